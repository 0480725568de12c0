package main

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const upstreamMod = `module k8s.io/kubernetes

require (
	github.com/spf13/pflag v1.0.10
	go.etcd.io/etcd/api/v3 v3.8.0
	go.etcd.io/etcd/client/v3 v3.8.0
	k8s.io/api v0.0.0
	k8s.io/klog/v2 v2.140.0
	k8s.io/new-part v0.0.0
)

replace k8s.io/api => ./staging/src/k8s.io/api
`

func TestBelongTo(t *testing.T) {
	got, err := belongTo("v1.38.2", []byte(upstreamMod))
	if err != nil {
		t.Fatal(err)
	}
	want := []module.Version{
		{Path: "k8s.io/kubernetes", Version: "v1.38.2"},
		{Path: "go.etcd.io/etcd/api/v3", Version: "v3.8.0"},
		{Path: "go.etcd.io/etcd/client/v3", Version: "v3.8.0"},
		{Path: "k8s.io/api", Version: "v0.38.2"},
		{Path: "k8s.io/new-part", Version: "v0.38.2"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestSetVersions(t *testing.T) {
	const before = `module example.com/cluster

require (
	github.com/spf13/pflag v1.0.9
	go.etcd.io/etcd/api/v3 v3.7.0
	go.etcd.io/etcd/server/v3 v3.7.0
	k8s.io/api v0.37.1 // indirect
	k8s.io/old-part v0.37.1
	k8s.io/klog/v2 v2.130.0
	k8s.io/kubernetes v1.37.1
)
`
	wanted, err := belongTo("v1.38.2", []byte(upstreamMod))
	if err != nil {
		t.Fatal(err)
	}
	after, err := setVersions([]byte(before), "1.37.1", wanted)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", after, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range file.Require {
		got[r.Mod.Path] = r.Mod.Version
	}
	for path, want := range map[string]string{
		"k8s.io/kubernetes":         "v1.38.2",
		"k8s.io/api":                "v0.38.2",
		"go.etcd.io/etcd/api/v3":    "v3.8.0",
		"go.etcd.io/etcd/server/v3": "v3.8.0", // upstream does not require it, and it is released with the others
		"github.com/spf13/pflag":    "v1.0.9", // tidying raises it as needed
		"k8s.io/klog/v2":            "v2.130.0",
		"k8s.io/new-part":           "v0.38.2",
		"k8s.io/old-part":           "", // no part of the new release
	} {
		if got[path] != want {
			t.Errorf("%s is at %q, want %q", path, got[path], want)
		}
	}
}

func TestCanonicalRefusesWhatIsNoVersion(t *testing.T) {
	for _, bad := range []string{"1.38", "v2.0.0", "newest", "v0.38.1"} {
		if v, err := canonical(bad); !errors.Is(err, errVersion) {
			t.Errorf("%s: %s, %v", bad, v, err)
		}
	}
	if v, err := canonical("1.38.0"); err != nil || v != "v1.38.0" {
		t.Errorf("%s, %v", v, err)
	}
}

// TestVersionConstantIsFound: the command rewrites it.
func TestVersionConstantIsFound(t *testing.T) {
	t.Chdir("../..")
	version, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := canonical(version); err != nil || v != "v"+version {
		t.Errorf("%s, %v", v, err)
	}
	if _, err := os.Stat("cluster/internal/wiring/upstream.sum"); err != nil {
		t.Error(err)
	}
}
