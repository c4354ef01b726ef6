package sleep_test

import (
	"context"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

func TestFor(t *testing.T) {
	if !sleep.For(t.Context(), time.Millisecond) {
		t.Error("a pause that was not ended says that it was")
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if sleep.For(ctx, time.Hour) {
		t.Error("a pause that was ended says that it was not")
	}
}
