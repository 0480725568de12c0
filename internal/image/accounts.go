package answer

import (
	"context"

	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/internal/image/wire"
)

func login(ctx context.Context, r wire.Login) (wire.LoggedIn, error) {
	kept, err := transfer.Registries{}.Login(ctx, r.Registry, transfer.Account{User: r.User, Password: r.Password})
	return wire.LoggedIn{Registry: r.Registry, User: r.User, Kept: kept}, err
}

func logout(r wire.Logout) (wire.LoggedOut, error) {
	known, err := transfer.Registries{}.Logout(r.Registry)
	return wire.LoggedOut{Registry: r.Registry, Known: known}, err
}
