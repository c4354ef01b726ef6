package main

import (
	"fmt"
	"time"
)

// jsonTime is a time as JSON output has it: in UTC as RFC 3339 writes it, and with a sign
// and six digits for a year that it cannot write, as ISO 8601 does. Stores that others
// wrote may hold such.
type jsonTime time.Time

// timeOf returns nil for the zero time, which stands for an unknown one.
func timeOf(t time.Time) *jsonTime {
	if t.IsZero() {
		return nil
	}
	return new(jsonTime(t))
}

// MarshalText implements encoding.TextMarshaler.
func (t jsonTime) MarshalText() ([]byte, error) {
	utc := time.Time(t).UTC()
	if y := utc.Year(); y < 0 || y > 9999 {
		return fmt.Appendf(nil, "%+07d%s", y, utc.Format("-01-02T15:04:05.999999999Z")), nil
	}
	return utc.AppendFormat(nil, time.RFC3339Nano), nil
}
