package registry_test

import (
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// partOf is the variable that makes the test's program another one.
const partOf = "SLIPWAY_TEST_PART"

// bePart does what another program would, if this process is to be one.
func bePart() (was bool) {
	parts := map[string]func(args []string) error{"push": pushPart, "serve": servePart}
	part, ok := parts[os.Getenv(partOf)]
	if !ok {
		return false
	}
	if err := part(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

// pushPart pushes an image to a place, with a password or none, by the library that clients use.
func pushPart(args []string) error {
	to, err := name.ParseReference(args[0])
	if err != nil {
		return err
	}
	img, err := random.Image(1<<10, 1)
	if err != nil {
		return err
	}
	auth := authn.Anonymous
	if args[1] != "" {
		auth = &authn.Basic{Username: registry.User, Password: args[1]}
	}
	return remote.Write(to, img, remote.WithAuth(auth))
}

// servePart is a registry with a token until its standard input ends.
func servePart(args []string) error {
	r, err := registry.Start(registry.Options{Dir: args[0], Token: args[1]})
	if err != nil {
		return err
	}
	fmt.Println(r.Address())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
