package storeurl

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// remote connects to a running agent.
func (o *Opener) remote(ctx context.Context, u URL) (vfs.Backend, error) {
	client, err := remotefs.Dial(ctx, string(u.Scheme)+":"+u.Target, &remotefs.DialOptions{TokenFile: u.TokenFile})
	if err != nil {
		return nil, err
	}
	o.closeLater(client)
	return client, nil
}
