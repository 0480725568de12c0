package kind

import (
	"testing"

	"github.com/slipway-dev/slipway/project"
)

func TestVariable(t *testing.T) {
	for kind, want := range map[string]string{
		"CronJob": "cronJob", "VGPUInstance": "vgpuInstance", "Pod": "pod", "A": "a", "HTTP": "http",
		"Range": "rangeObject", "String": "stringObject", "Client": "clientObject", "Err": "errObject", "Old": "oldObject", "Field": "fieldObject",
	} {
		r := project.Resource{Group: "batch", Version: "v1", Kind: kind, Domain: "example.com"}
		if got := Variable(r); got != want {
			t.Errorf("%s gives %s, want %s", kind, got, want)
		}
	}
}
