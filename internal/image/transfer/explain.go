package transfer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

const credentials = "credentials are read from ~/.docker/config.json, or the folder in DOCKER_CONFIG, with its helpers, and from podman's auth.json"

// Explain makes an error of a registry one that its user understands. Done is what was to be done with the image.
func Explain(ctx context.Context, done string, ref name.Reference, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &report.Error{What: "the image cannot be " + done, Where: ref.Name(), Err: err}
	answer, answered := errors.AsType[*transport.Error](err)
	host := ref.Context().RegistryStr()
	switch {
	case answered && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		e.Hint = host + " requires credentials with that permission; " + credentials
		e.Next = "slipway image login " + host
	case answered && answer.StatusCode == http.StatusNotFound:
		e.Hint = "the image does not exist, or your account may not see it"
	case answered && answer.StatusCode == http.StatusTooManyRequests:
		e.Hint = host + " limits requests: try again later, or log in for a higher limit"
	case answered && answer.StatusCode == http.StatusInsufficientStorage:
		e.Hint = "the registry's disk is full"
	case errors.Is(err, syscall.ENOSPC):
		e.Hint, e.Next = "this disk is full; remove built or pulled images", roomNext
	case isNoRoom(err):
		e.Hint, e.Next = roomHint, roomNext
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = "no program listens at " + host
		if reference.OnLoopback(ref.Context().RegistryStr()) || ref.Context().Scheme() == "http" {
			e.Hint += "; `slipway cluster status` shows the address of a cluster's registry"
			e.Next = "slipway cluster status"
		}
	case errors.Is(err, errPlain):
		e.Hint = "slipway requires TLS, except for registries on this machine"
	}
	return e
}

// Advice for a disk that has no room.
const (
	roomHint = "remove built or pulled images, or set SLIPWAY_CACHE to a folder on another disk"
	roomNext = "slipway image list"
)

func isNoRoom(err error) bool {
	_, is := errors.AsType[*store.NoRoomError](err)
	return is
}

// explainPull makes an error of a pull one that its user understands. At is where the image was asked for.
func explainPull(ctx context.Context, from, at name.Reference, err error) error {
	explained := Explain(ctx, "pulled", at, err)
	e, ok := errors.AsType[*report.Error](explained)
	if !ok || e.Hint != "" || !unreachable(err) {
		return explained
	}
	host := at.Context().RegistryStr()
	if at == from {
		e.Hint = "this machine cannot reach " + host + "; name a mirror with --mirror " + dockerName(host) + "=HOST, or " + reference.MirrorVariable
	} else {
		e.Hint = "this machine cannot reach " + host + ", the mirror that --mirror or " + reference.MirrorVariable + " names"
	}
	return e
}

// unreachable says whether a network let no request through.
func unreachable(err error) bool {
	_, connection := errors.AsType[net.Error](err)
	return connection
}

// dockerName is a registry's name as people write it.
func dockerName(host string) string {
	if host == name.DefaultRegistry {
		return "docker.io"
	}
	return host
}
