package image

import (
	"context"

	"github.com/slipway-dev/slipway/internal/image/transfer"
)

// Login proves an account of a registry and keeps it where docker does.
func (i *Images) Login(ctx context.Context, l Login) (LoggedIn, error) {
	kept, err := transfer.Registries{}.Login(ctx, l.Registry, transfer.Account{User: l.User, Password: l.Password})
	return LoggedIn{Registry: l.Registry, User: l.User, Kept: kept}, orEnd(ctx, err)
}

// Logout forgets the account of a registry.
func (i *Images) Logout(_ context.Context, l Logout) (LoggedOut, error) {
	known, err := transfer.Registries{}.Logout(l.Registry)
	return LoggedOut{Registry: l.Registry, Known: known}, err
}
