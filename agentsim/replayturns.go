package agentsim

import (
	"context"
	"errors"
)

func (r *replayer) runTurns(ctx context.Context) error { return errors.New("this build replays calls only, write calls") }
