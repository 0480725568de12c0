package codebase_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/builtin"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// TestCheckBuiltin: a kind that Kubernetes does not have is refused with the one that is meant, and where another
// release's libraries are required, what is not known is said.
func TestCheckBuiltin(t *testing.T) {
	newest := builtin.Release() + ".0"
	for _, test := range []struct {
		apimachinery, group, version, kind string
		hint, next                         string // of the refusal
		unknown                            bool
	}{
		{apimachinery: newest, group: "apps", version: "v1", kind: "Deployment"},
		{apimachinery: newest, group: "core", version: "v1", kind: "Binding"},
		{apimachinery: "v0.25.0", group: "apps", version: "v1beta1", kind: "StatefulSet"},
		{apimachinery: newest, group: "apps", version: "v1", kind: "Deploymnet", hint: "did you mean Deployment in apps/v1?", next: "again apps v1 Deployment"},
		{apimachinery: "v0.25.0", group: "apps", version: "v1", kind: "Deploymnet", hint: "did you mean Deployment in apps/v1?", next: "again apps v1 Deployment"},
		{apimachinery: "", group: "core", version: "v1", kind: "Pood", hint: "did you mean Pod in v1?", next: "again core v1 Pod"},
		{apimachinery: newest, group: "core", version: "v1", kind: "Deployment", hint: "did you mean Deployment in apps/v1?", next: "again apps v1 Deployment"},
		{apimachinery: newest, group: "autoscaling", version: "v3", kind: "HorizontalPodAutoscaler", hint: "did you mean HorizontalPodAutoscaler in autoscaling/v", next: "again autoscaling v"},
		{apimachinery: newest, group: "batch", version: "v1", kind: "Backup", hint: "the kinds of this group are CronJob, Job"},
		{apimachinery: "v0.22.0", group: "policy", version: "v1beta1", kind: "PodSecurityPolicy", unknown: true},
		{apimachinery: newest, group: "policy", version: "v1beta1", kind: "PodSecurityPolicy", hint: "the kinds of this group are Eviction, PodDisruptionBudget"},
	} {
		root := t.TempDir()
		if test.apimachinery != "" {
			write(t, root, "go.mod", "module example.com/op\n\nrequire k8s.io/apimachinery "+test.apimachinery+"\n")
		}
		r := project.Resource{Group: test.group, Version: test.version, Kind: test.kind, Core: true}
		r.Domain, _ = project.CoreDomain(test.group)
		unknown, err := codebase.Read(fileview.Disk(root), func(string) string { return "" }).Versions().CheckBuiltin(r, func(of project.Resource) string {
			return "again " + of.Group + " " + of.Version + " " + of.Kind
		})
		refusal, refused := errors.AsType[*report.Error](err)
		switch {
		case refused != (test.hint != ""), (unknown != "") != test.unknown:
			t.Errorf("%+v: got %q, %v", test, unknown, err)
		case refused && (!strings.Contains(refusal.Hint, test.hint) || !strings.HasPrefix(refusal.Next, test.next) || test.next == "" && refusal.Next != ""):
			t.Errorf("%+v: got the hint %q, and the command %q", test, refusal.Hint, refusal.Next)
		}
	}
}
