package badgerfs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// logger passes Badger's messages to slog. Its errors become warnings: what
// matters to a caller is returned to the caller.
type logger struct{ to *slog.Logger }

func (l logger) Errorf(f string, args ...any)   { l.log(slog.LevelWarn, f, args) }
func (l logger) Warningf(f string, args ...any) { l.log(slog.LevelWarn, f, args) }
func (l logger) Infof(f string, args ...any)    { l.log(slog.LevelDebug, f, args) }
func (l logger) Debugf(f string, args ...any)   { l.log(slog.LevelDebug, f, args) }

func (l logger) log(level slog.Level, format string, args []any) {
	ctx := context.Background()
	if l.to.Enabled(ctx, level) {
		l.to.Log(ctx, level, "badger: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
