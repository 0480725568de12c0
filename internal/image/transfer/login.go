package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/slipway-dev/slipway/internal/report"
)

// An Account is what a registry knows its user by.
type Account struct {
	User     string
	Password string
}

// Login asks a registry whether an account is right, and keeps it where docker does, by the credential helper that is
// configured there. It returns that place.
func (r Registries) Login(ctx context.Context, registry string, a Account) (string, error) {
	reg, err := parseRegistry(registry)
	if err != nil {
		return "", err
	}
	if err := prove(ctx, reg, a); err != nil {
		return "", explainLogin(ctx, reg, err)
	}
	file, err := userConfig()
	if err != nil {
		return "", err
	}
	key := accountKey(reg)
	err = file.GetCredentialsStore(key).Store(types.AuthConfig{ServerAddress: key, Username: a.User, Password: a.Password})
	if err != nil {
		return "", &report.Error{What: "cannot store the account", Where: file.Filename, Err: err}
	}
	return keptIn(file, key), hide(file, key)
}

// hide makes a file that has a password readable to its owner alone; docker leaves it as it was.
func hide(file *configfile.ConfigFile, key string) error {
	if keptIn(file, key) != file.Filename {
		return nil
	}
	if err := os.Chmod(file.Filename, 0o600); err != nil {
		return &report.Error{What: "cannot hide the file with the password from other users", Where: file.Filename, Err: err}
	}
	return nil
}

// Logout forgets the account of a registry, and says whether there was one.
func (r Registries) Logout(registry string) (bool, error) {
	reg, err := parseRegistry(registry)
	if err != nil {
		return false, err
	}
	file, err := userConfig()
	if err != nil {
		return false, err
	}
	key := accountKey(reg)
	known, err := file.GetCredentialsStore(key).Get(key)
	if err == nil && known == (types.AuthConfig{ServerAddress: known.ServerAddress}) {
		return false, nil
	}
	if err = errors.Join(err, file.GetCredentialsStore(key).Erase(key)); err != nil {
		return false, &report.Error{What: "cannot delete the account", Where: keptIn(file, key), Err: err}
	}
	return true, nil
}

func parseRegistry(text string) (name.Registry, error) {
	registry, err := name.NewRegistry(text)
	if err != nil || text == "" {
		return registry, &report.Error{What: fmt.Sprintf("invalid registry %q", text), Err: err, Hint: "use an address like registry.example.com or localhost:5001", Code: report.UsageCode}
	}
	return registry, nil
}

// accountKey is the name that docker keeps a registry's account under.
func accountKey(registry name.Registry) string {
	if registry.RegistryStr() == name.DefaultRegistry {
		return authn.DefaultAuthKey
	}
	return registry.RegistryStr()
}

// prove has the registry judge the account.
func prove(ctx context.Context, registry name.Registry, a Account) error {
	auth := authn.FromConfig(authn.AuthConfig{Username: a.User, Password: a.Password})
	authorized, err := transport.NewWithContext(ctx, registry, auth, guarded{carrier()}, nil)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, registry.Scheme()+"://"+registry.RegistryStr()+"/v2/", http.NoBody)
	if err != nil {
		return err
	}
	response, err := authorized.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return transport.CheckError(response, http.StatusOK)
}

// explainLogin makes an error of a registry one that its user understands.
func explainLogin(ctx context.Context, registry name.Registry, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &report.Error{What: "login failed", Where: registry.RegistryStr(), Err: err}
	if answer, ok := errors.AsType[*transport.Error](err); ok && answer.StatusCode == http.StatusUnauthorized {
		e.What, e.Hint = "the registry refuses this user name or password", "some registries require a token as password"
	}
	if errors.Is(err, errPlain) {
		e.Hint = "slipway requires TLS, except for registries on this machine"
	}
	return e
}

// userConfig reads the file that docker keeps the user's accounts in.
func userConfig() (*configfile.ConfigFile, error) {
	file, err := config.Load(config.Dir())
	if err != nil {
		return nil, &report.Error{What: "cannot read the file of the user's accounts", Where: config.Dir(), Err: err}
	}
	return file, nil
}

// keptIn says where the account of a registry is kept.
func keptIn(file *configfile.ConfigFile, key string) string {
	helper := file.CredentialsStore
	if own, ok := file.CredentialHelpers[key]; ok {
		helper = own
	}
	if helper != "" {
		return "docker-credential-" + helper
	}
	return file.Filename
}
