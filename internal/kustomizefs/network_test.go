package kustomizefs

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// fetched asks for a page in a work that may use a network.
func fetched(t *testing.T, patience time.Duration, address string) (*Disk, error) {
	t.Helper()
	ctx, end := Online(t.Context(), func(string) {})
	defer end()
	networkOf(ctx).patience = patience
	disk := Over(filesys.MakeFsInMemory())
	response, err := Await(ctx, disk, func() (*http.Response, error) { return http.Get(address) }) // as kustomize does
	if err == nil {
		err = response.Body.Close()
	}
	return disk, err
}

// TestNetworkLimits: what comes too late, or becomes too much, is not given to kustomize.
func TestNetworkLimits(t *testing.T) {
	over := make(chan struct{})
	bomb := "a: &a [" + strings.Repeat("x,", 1<<12) + "]\nb: &b [" + strings.Repeat("*a,", 1<<8) + "]\nc: [" + strings.Repeat("*b,", 1<<8) + "]\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			<-over
		case "/slow":
			_, _ = w.Write([]byte("a: b\n"))
			w.(http.Flusher).Flush()
			<-over
		case "/bomb":
			_, _ = w.Write([]byte(bomb))
		}
	}))
	defer s.Close()
	defer close(over)
	for path, want := range map[string]error{"/never": errLate, "/slow": errLate, "/bomb": ErrAliases} {
		patience := testlimit.Hang
		if errors.Is(want, errLate) {
			patience = 50 * time.Millisecond
		}
		if disk, err := fetched(t, patience, s.URL+path); !errors.Is(err, want) || !errors.Is(disk.Exceeded(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestPassesOn: works hold requests, and while none goes on they are passed on.
func TestPassesOn(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	w := &works{}
	client := http.Client{Transport: transport{&http.Transport{}, w}}
	response, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	online, end := Online(t.Context(), func(string) {})
	defer end()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	may, none, left := &Disk{ctx: online, network: networkOf(online)}, &Disk{ctx: t.Context()}, &Disk{ctx: ended}
	for _, test := range []struct {
		disks []*Disk
		want  error
	}{{[]*Disk{left, may}, nil}, {[]*Disk{may, left}, nil}, {[]*Disk{may, none}, ErrRemote}, {[]*Disk{none, left}, ErrRemote}, {[]*Disk{left}, context.Canceled}} {
		w.disks = test.disks
		response, err := client.Get(s.URL)
		if !errors.Is(err, test.want) {
			t.Errorf("%d works: %v, want %v", len(test.disks), err, test.want)
		}
		if err == nil {
			_ = response.Body.Close()
		}
		none.exceeded = nil
	}
}

// TestParseRepository: addresses are read as kustomize reads them.
func TestParseRepository(t *testing.T) {
	for address, want := range map[string]repository{
		"https://github.com/team/op":                          {"https://github.com/team/op", "", ""},
		"github.com/team/op/config/default?ref=v1":            {"https://github.com/team/op", "v1", "config/default"},
		"git@github.com:team/op.git//config?version=v2":       {"git@github.com:team/op.git", "v2", "config"},
		"ssh://git@example.com:22/team/op.git/config":         {"ssh://git@example.com:22/team/op.git", "", "config"},
		"git::https://example.com/team/op//a/b?ref=x&timeout": {"https://example.com/team/op", "x", "a/b"},
		"https://dev.azure.com/o/p/_git/repo/a/b":             {"https://dev.azure.com/o/p/_git/repo", "", "a/b"},
		"file:///srv/op?ref=v1":                               {"file:///srv/op", "v1", ""},
		"user@host:team/op/config":                            {"user@host:team/op", "", "config"},
		"../default":                                          {}, "/srv/op": {}, "a.yaml": {}, "https://example.com/one": {}, "https://example.com/a/b/../../c": {},
		"apiVersion: builtin\nkind: x\n": {},
	} {
		got, ok := parseRepository(address)
		if !ok {
			got = repository{}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(repository{})); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
}
