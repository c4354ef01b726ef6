package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim/transcript"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	safe "github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

// serveRecorded serves tools whose calls become a scenario when the server ends.
func (o *mcpOptions) serveRecorded(cmd *cobra.Command, s *storeurl.Store, opts agenttool.Options) error {
	if err := checkNew(o.record); err != nil {
		return err
	}
	rec := transcript.RecorderOptions{Tools: opts, Tokenizers: tiktoken.Named}
	if o.limits.tokenizer != tiktoken.Estimate {
		rec.Tokenizer = o.limits.tokenizer
	}
	for _, part := range s.Parts {
		route, err := vfs.RouteOf(cmd.Context(), s.Backend, part.Prefix)
		switch {
		case err != nil:
			return err
		case !route.Writable && o.allowWrites: // else no tool asks
			rec.Fixed = append(rec.Fixed, part.Prefix)
		case part.Prefix != "/":
			rec.Routes = append(rec.Routes, part.Prefix)
		}
	}
	recorder, err := transcript.NewRecorder(rec)
	if err != nil {
		return err
	}
	err = o.serve(cmd, s, recorder)
	// What was recorded is kept also where serving ended badly.
	return errors.Join(err, o.writeScenario(cmd, recorder, rec.Tokenizer))
}

// writeScenario writes the scenario. The verb may have been interrupted, which is how a
// server ends. Nothing goes to standard output, which may be the client's.
func (o *mcpOptions) writeScenario(cmd *cobra.Command, recorder *transcript.Recorder, tokenizer string) error {
	ctx := context.WithoutCancel(cmd.Context())
	scenario, replays := recorder.Scenario(ctx)
	if errors.Is(replays, transcript.ErrNothing) {
		fmt.Fprintf(cmd.ErrOrStderr(), "no call was made, so %s is not written\n", o.record)
		return nil
	}
	if scenario == nil {
		return replays
	}
	for _, suspect := range recorder.Suspects() {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s holds what looks like %s, look at it before you share %s\n", safe.Text(suspect.Where), suspect.Kind, o.record)
	}
	tellScenario(cmd, scenario)
	if err := writeRecording(cmd, o.record, scenario.Data, 0o644); err != nil {
		return err
	}
	// From here on the recording is safe.
	var golden []byte
	err := replays
	if err == nil {
		golden, err = goldenOf(ctx, o.record, scenario.Data, tokenizer)
	}
	var path string
	if err == nil {
		path, err = writeGolden(o.record, golden)
	}
	if err != nil {
		return fmt.Errorf("wrote %s of %s, but no golden: %w", o.record, counted(scenario.Calls, "call"), err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s of %s, and its golden %s\n", o.record, counted(scenario.Calls, "call"), path)
	return nil
}
