// Package demo holds what the demo verb shows: the files of an imaginary garden
// assistant, and a scenario over some of them with its golden.
package demo

import (
	"context"
	"embed"
	"io/fs"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

//go:embed files
var embedded embed.FS

//go:embed garden.txtar
var scenario []byte

//go:embed golden.txtar
var golden []byte

// Files returns the files of the assistant.
func Files(ctx context.Context) (*staticfs.FS, error) {
	files, err := fs.Sub(embedded, "files")
	if err != nil {
		return nil, err
	}
	s, _, err := staticfs.FromFS(ctx, files)
	return s, err
}

// Scenario returns the scenario.
func Scenario() (*agentsim.Scenario, error) {
	return agentsim.Parse("garden.txtar", "demo/garden", scenario)
}

// Golden returns what replaying the scenario must show.
func Golden() []byte { return golden }
