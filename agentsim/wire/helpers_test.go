package wire_test

import "time"

func seconds(n int) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}
