package registry_test

import (
	"context"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// What a pod's image is called says whether it is here: loaded, or pushed under the registry's own address, whatever
// that is called.
func TestHas(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir()})
	if !r.Empty() {
		t.Error("a new registry is not empty")
	}
	_, port, _ := strings.Cut(r.Address(), ":")
	img := image(t)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	push(t, ref(t, r, "index.docker.io/library/controller:v1"), img)
	push(t, ref(t, r, "team/op:v1"), img)
	for name, here := range map[string]bool{
		"controller:v1": true, "docker.io/library/controller:v1": true, "controller:v2": false, "controller": false,
		"controller@" + digest.String(): true, "other@" + digest.String(): false,
		"localhost:" + port + "/team/op:v1": true, "127.0.0.1:" + port + "/team/op:v1": true, "localhost:" + port + "/team/op": false,
		"team/op:v1": false, "localhost:1/team/op:v1": false, "no name": false, "": false,
	} {
		if got := r.Has(name); got != here {
			t.Errorf("%q is here: %t", name, got)
		}
	}
	if r.Empty() {
		t.Error("a registry with images is empty")
	}
}

// Who has pushed an image finds what follows from it done.
func TestFollow(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan bool, 8)
	r.Follow(ctx, func() { came <- r.Has("controller:v1") })
	img := image(t)
	push(t, ref(t, r, "index.docker.io/library/controller:v1"), img)
	if len(came) != 1 || !<-came {
		t.Errorf("%d told", len(came))
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	push(t, ref(t, r, "team/op@"+digest.String()), img)
	if len(came) != 0 {
		t.Error("told of what has no tag")
	}
	cancel()
	<-ctx.Done()
	for range 2 { // the first one may come while the end is noticed
		push(t, ref(t, r, "team/op:v1"), img)
	}
	if len(came) > 1 {
		t.Error("told after the end")
	}
}
