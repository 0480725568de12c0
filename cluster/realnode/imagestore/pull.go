package imagestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Credentials are the content of a pull secret for one registry.
type Credentials struct {
	User, Password string
	Auth           string // user and password in base64
	IdentityToken  string
	RegistryToken  string
}

func (c *Credentials) authenticator() authn.Authenticator {
	if c == nil {
		return authn.Anonymous
	}
	return authn.FromConfig(authn.AuthConfig{
		Username: c.User, Password: c.Password, Auth: c.Auth, IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken,
	})
}

// pull pulls from the cluster's registry if the image is there, and else from the registry in its name or that one's
// mirror. It never sends a registry's credentials to a mirror.
func (s *Store) pull(ctx context.Context, ref string, at location, credentials *Credentials) (Image, error) {
	if at.here != nil {
		from, err := s.ask(ctx, *at.here, authn.Anonymous)
		if err != nil {
			return Image{}, err
		}
		return s.take(at, from)
	}
	asked, err := places.Mirrored(at.own, s.options.Mirrors)
	if err != nil {
		return Image{}, err
	}
	auth := credentials.authenticator()
	if asked != at.own {
		auth = authn.Anonymous
	}
	from, err := s.ask(ctx, asked, auth)
	switch {
	case err != nil && s.options.Registry != "":
		return Image{}, s.missing(ref, at, asked, err)
	case err != nil:
		return Image{}, err
	}
	return s.take(at, from)
}

func (s *Store) ask(ctx context.Context, place name.Reference, auth authn.Authenticator) (v1.Image, error) {
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithAuth(auth), remote.WithPlatform(v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}),
	}
	if s.options.Transport != nil {
		options = append(options, remote.WithTransport(s.options.Transport))
	}
	image, err := remote.Image(place, options...)
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", place.Name(), err)
	}
	return image, nil
}

// maxConfig bounds an image's configuration, in bytes. The largest known ones are smaller.
const maxConfig = 8 << 20

// take unpacks an image, unless the store has it, and adds the name that was asked for.
func (s *Store) take(at location, from v1.Image) (Image, error) {
	own := at.own
	image, err := s.describe(at, from)
	if err != nil {
		return Image{}, fmt.Errorf("pull %s: %w", own.Name(), err)
	}
	if _, err := s.Get(image.ID); err == nil {
		return s.keep(image)
	}
	temp, err := os.MkdirTemp(s.dir, "pull-")
	if err != nil {
		return Image{}, fmt.Errorf("unpack %s: %w", own.Name(), err)
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, folderMode); err != nil {
		return Image{}, fmt.Errorf("unpack %s: %w", own.Name(), err)
	}
	bare, err := unpack(from, filepath.Join(temp, rootFolder), s.options.Owners)
	if err != nil {
		return Image{}, fmt.Errorf("unpack %s: %w", own.Name(), err)
	}
	s.warnBare(own.Name(), bare)
	if err := os.Rename(temp, s.folder(image.ID)); err != nil && !errors.Is(err, os.ErrExist) {
		return Image{}, fmt.Errorf("unpack %s: %w", own.Name(), err)
	}
	if image, err = s.keep(image); err != nil {
		return Image{}, err
	}
	if _, err := s.Prune(supersededFor, nil, false); err != nil && s.options.Warn != nil {
		s.options.Warn(err.Error())
	}
	return image, nil
}

// warnBare warns about files without the capabilities that the image gives them.
func (s *Store) warnBare(image string, files []string) {
	if len(files) > 0 && s.options.Warn != nil {
		s.options.Warn(fmt.Sprintf("image %s: these files have lost their capabilities, which cannot be set here: %s", image, strings.Join(files, ", ")))
	}
}

func (s *Store) describe(at location, from v1.Image) (Image, error) {
	own := at.own
	manifest, err := from.Manifest()
	if err != nil {
		return Image{}, err
	}
	if manifest.Config.Size < 0 || manifest.Config.Size > maxConfig { // the library reads it whole, if the size is negative without a limit
		return Image{}, fmt.Errorf("%w: its configuration has %d bytes, and the limit is %d", errTooLarge, manifest.Config.Size, maxConfig)
	}
	id, err := from.ConfigName()
	if err != nil {
		return Image{}, err
	}
	config, err := from.ConfigFile()
	if err != nil {
		return Image{}, err
	}
	digest, err := from.Digest()
	if err != nil {
		return Image{}, err
	}
	manifestName := own.Context().Name() + "@" + digest.String()
	image := Image{
		ID: id.String(), Config: config.Config, Platform: config.OS + "/" + config.Architecture, Digests: []string{manifestName},
		Size: manifest.Config.Size, Root: filepath.Join(s.folder(id.String()), rootFolder),
		Origins: map[string]Origin{own.Name(): {Here: at.digest(), Manifest: manifestName}},
	}
	for _, layer := range manifest.Layers {
		image.Size += layer.Size
	}
	if _, ok := own.(name.Digest); ok {
		image.Digests = union(image.Digests, []string{own.Name()})
	} else {
		image.Tags = []string{own.Name()}
	}
	return image, nil
}
