package ship

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestGoingVersions: whether a version may go depends on what is stored.
func TestGoingVersions(t *testing.T) {
	for name, test := range map[string]struct{ live, stored, wanted, want string }{
		"stays":      {"v1* v2", "v1", "v1* v2", ""},
		"comes":      {"v1*", "v1", "v1* v2", ""},
		"not stored": {"v1 v2*", "v2", "v2*", "v1 may go: no object"},
		"stored":     {"v1 v2*", "v1 v2", "v2*", "v1 may go once no object is stored in it: all are stored as v2 first"},
	} {
		t.Run(name, func(t *testing.T) {
			live := hulls(t, test.live, noConversion)
			if err := unstructured.SetNestedStringSlice(live.Object, strings.Fields(test.stored), "status", "storedVersions"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(goingVersions(hulls(t, test.wanted, noConversion), live), "|"); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestUnservedVersion: a version that is only unserved goes on to hold objects.
func TestUnservedVersion(t *testing.T) {
	live, wanted := hulls(t, "v1* v2", noConversion), hulls(t, "v1* v2", noConversion)
	versionOf(wanted, "v2")["served"] = false
	if got := goingVersions(wanted, live); len(got) != 1 || !strings.HasPrefix(got[0], "v2 is not served any more") {
		t.Errorf("got %q", got)
	}
}
