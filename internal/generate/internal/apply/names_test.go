package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNames: a package gets as many of the last parts of its path as nothing else has, and never the name of the file's
// own folder.
func TestNames(t *testing.T) {
	n := newNames("example.com/op/applied/v1")
	for _, c := range []struct{ pkg, want string }{
		{"example.com/op/applied/v1", "Kind"},
		{"k8s.io/apimachinery/pkg/apis/meta/v1", "metav1.Kind"},
		{"k8s.io/client-go/applyconfigurations/meta/v1", "applyconfigurationsmetav1.Kind"},
		{"example.com/a/type", "_type.Kind"},
		{"example.com/my-pkg_b/v1.x", "v1x.Kind"},
		{"fmt", "fmt.Kind"},
		{"k8s.io/apimachinery/pkg/apis/meta/v1", "metav1.Kind"},
	} {
		if got := n.of(c.pkg, "Kind"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.pkg, got, c.want)
		}
	}
	const want = `
import (
	fmt "fmt"

	_type "example.com/a/type"
	v1x "example.com/my-pkg_b/v1.x"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyconfigurationsmetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)
`
	if diff := cmp.Diff(want, n.imports()); diff != "" || n.refused != "" {
		t.Errorf("refused %q: %s", n.refused, diff)
	}
	if n.of("example.com/2fa", "Kind"); n.refused == "" {
		t.Error("a name that begins with a digit is taken")
	}
}

// FuzzClientTags: tags of a client are read, or refused as unsupported.
func FuzzClientTags(f *testing.F) {
	for _, line := range []string{"+genclient", "+genclient:method=A,verb=get,subresource=scale", "+genclient:onlyVerbs=get,apply", " +genclient:noStatus", "+genclient=false", "+genclient:method=,", "genclient"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		tags, err := readClientTags([]string{line})
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("%q: %v", line, err)
		}
		for _, subresource := range tags.subresources {
			if subresource == "" || !isLowercase(subresource) {
				t.Fatalf("%q has the subresource %q", line, subresource)
			}
		}
	})
}

// TestFormOf: a form is known of each version that writes what is known, and of no other text.
func TestFormOf(t *testing.T) {
	for version, want := range map[string]bool{"v0.32.9": false, "v0.33.0": true, "v0.34.1": true, "v0.37.2": true, "v0.40.0": true, "": false, "latest": false} {
		if _, ok := FormOf(version); ok != want {
			t.Errorf("%q: got %v", version, ok)
		}
	}
	if newest, _ := FormOf("v0.37.0"); newest != Newest() {
		t.Error("v0.37 has another form than the newest")
	}
}
