package images

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
)

func TestIsArchive(t *testing.T) {
	for name, want := range map[string]bool{
		"operator.tar": true, "dist/operator.TAR.GZ": true, "operator.tgz": true,
		"controller:latest": false, "registry.example.com/tar": false, "operator.tar:v1": false,
	} {
		if isArchive(name) != want {
			t.Errorf("%q is an archive: %v", name, !want)
		}
	}
}

// TestTellsOfImages: the texts for people say what the values for programs hold.
func TestTellsOfImages(t *testing.T) {
	one := image.Image{Name: "operator:v1", Digest: "sha256:0123456789abcdef", Size: 3 << 19, Platforms: []image.Platform{
		{Platform: "linux/amd64", Entrypoint: []string{"/manager"}, Labels: map[string]string{"b": "2", "a": "1"}, SBOM: []byte(`{"name":"bill"}`)},
	}}
	unchanged := one
	unchanged.Unchanged = true
	loaded := image.Loaded{Images: []image.Pushed{{Name: one.Name, Digest: one.Digest}}}
	for _, test := range []struct{ name, got, want string }{
		{"built", builtText(one), "built operator:v1 for linux/amd64, 1.5 MiB\nsha256:0123456789abcdef"},
		{"unchanged", builtText(unchanged), "unchanged: operator:v1"},
		{"inspected", inspected(one), "a=1\n  label       b=2"},
		{"as root", inspected(one), "user        root"},
		{"bills", bills(one), `"name": "bill"`},
		{"list", imageTable([]image.Listed{{Name: "operator:v1", Digest: one.Digest + "0000"}}), "sha256:0123456789ab "},
		{"no images", imageTable(nil), "slipway image build"},
		{"loaded", loadedText(loaded, "a", nil), "cluster a has operator:v1\nsha256:0123456789abcdef"},
		{"loaded and joined", loadedText(loaded, "a", &clusterctl.Joined{Cluster: "a", Node: "real-1"}), "node real-1 has joined"},
	} {
		if !strings.Contains(test.got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.name, test.want, test.got)
		}
	}
}

// TestAccountsOfOthers: only an embedded cluster's registry on this machine has an account that slipway knows.
func TestAccountsOfOthers(t *testing.T) {
	s, _ := operationtest.Begin(t, t.TempDir())
	for _, ref := range []string{"registry.example.com/operator:v1", "operator", "[::1]:5001/operator", "localhost/operator", "127.0.0.1:1/operator"} {
		if account, err := accountFor(t.Context(), s, ref); account != nil || err != nil {
			t.Errorf("%s: %+v, %v", ref, account, err)
		}
	}
}

// TestNames: completion reads names without starting a program.
func TestNames(t *testing.T) {
	s, told := operationtest.Begin(t, t.TempDir())
	if names := Names(s); len(names) > 0 || len(told.All) > 0 {
		t.Errorf("there are images: %q; it told %v", names, told.All)
	}
}
