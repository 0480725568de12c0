package imagestore

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// missing returns the error for an image that neither the cluster's registry nor the registry or mirror at asked
// provides.
func (s *Store) missing(ref string, at location, asked name.Reference, err error) error {
	return fmt.Errorf("%s is not loaded into the cluster, and %s refuses it: %w; %s", ref, asked.Context().RegistryStr(), err,
		advice(ref, at.own, asked, err))
}

// advice returns what the user can do about err. It names no command that would fail for the same reason.
func advice(ref string, own, asked name.Reference, err error) string {
	answer, answered := errors.AsType[*transport.Error](err)
	_, unreachable := errors.AsType[net.Error](err)
	host := places.Familiar(asked.Context().RegistryStr())
	switch {
	case answered && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		return "the registry does not have the image or requires an account: slipway image login " + host + ", then " + places.Obtain(ref)
	case answered && answer.StatusCode != http.StatusNotFound:
		return "try again, or " + places.Obtain(ref)
	case answered || !unreachable:
		if build := places.Build(ref); build != "" {
			return "if it is your own: " + build
		}
		return "check the digest, since the registry has no such image for this machine"
	case asked != own || places.OnLoopback(asked.Context().RegistryStr()):
		return places.Obtain(ref)
	}
	return fmt.Sprintf("%s; if the network refuses, name a mirror: slipway image pull --mirror %[2]s=HOST %[3]s, or SLIPWAY_MIRROR=%[2]s=HOST when the cluster starts",
		places.Obtain(ref), host, ref)
}
