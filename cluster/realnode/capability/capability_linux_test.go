package capability

import (
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestAllCapabilities: the set of all is that of this kernel's interface, which the list of names has in full.
func TestAllCapabilities(t *testing.T) {
	if want := uint64(1)<<(unix.CAP_LAST_CAP+1) - 1; all != want || len(numbers) != unix.CAP_LAST_CAP+1 {
		t.Errorf("all are %x with %d names, want %x", uint64(all), len(numbers), want)
	}
}

// TestOf: ALL is the base for single names of either list, and a name in both is dropped, as containerd has it.
func TestOf(t *testing.T) {
	const chown, netAdmin = 1 << unix.CAP_CHOWN, 1 << unix.CAP_NET_ADMIN
	usually := Of(nil)
	if usually&chown == 0 || usually&netAdmin != 0 {
		t.Fatalf("the usual set is %x", usually)
	}
	for what, c := range map[string]struct {
		add, drop []string
		want      uint64
	}{
		"one more":            {[]string{"NET_ADMIN"}, nil, usually | netAdmin},
		"one less":            {nil, []string{"CAP_CHOWN"}, usually &^ chown},
		"all":                 {[]string{"all"}, nil, all},
		"none":                {nil, []string{"ALL"}, 0},
		"all but one":         {[]string{"ALL"}, []string{"CHOWN"}, all &^ chown},
		"only one":            {[]string{"NET_ADMIN"}, []string{"ALL"}, netAdmin},
		"in both":             {[]string{"CHOWN"}, []string{"CHOWN"}, usually &^ chown},
		"all in both":         {[]string{"ALL"}, []string{"ALL"}, 0},
		"all in both and one": {[]string{"ALL", "CHOWN"}, []string{"ALL"}, chown},
	} {
		security := &runtimeapi.LinuxContainerSecurityContext{Capabilities: &runtimeapi.Capability{AddCapabilities: c.add, DropCapabilities: c.drop}}
		if got := Of(security); got != c.want {
			t.Errorf("%s: %x, want %x", what, got, c.want)
		}
	}
}
