package registry_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestImagesOfPodsStay: a manifest without a tag, which a pod's container runs, is kept when others go; while nobody
// can tell, all are.
func TestImagesOfPodsStay(t *testing.T) {
	dir := t.TempDir()
	r := start(t, registry.Options{Dir: dir, Durable: true})
	img := image(t)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	push(t, ref(t, r, "team/op@"+digest.String()), img)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-48 * time.Hour)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		names []string
		err   error
		has   bool
	}{
		{nil, errors.New("the cluster is starting"), true},
		{[]string{"team/op:v1", "no name", "127.0.0.1:1/team/op@" + digest.String()}, nil, true},
	} {
		again := start(t, registry.Options{Dir: dir, Durable: true, Images: func(context.Context) ([]string, error) { return step.names, step.err }})
		if has := again.Has("localhost:" + port(again) + "/team/op@" + digest.String()); has != step.has {
			t.Errorf("with %q, %v it is there: %t", step.names, step.err, has)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, "repositories/team/op/_manifests/sha256", digest.Hex), then, then); err != nil {
			t.Fatal(err)
		}
	}
	again := start(t, registry.Options{Dir: dir, Durable: true, Images: func(context.Context) ([]string, error) { return nil, nil }})
	if again.Has("localhost:" + port(again) + "/team/op@" + digest.String()) {
		t.Error("it is there although no container runs it")
	}
}

// port is that of a registry.
func port(r *registry.Registry) string {
	_, port, _ := net.SplitHostPort(r.Address())
	return port
}
