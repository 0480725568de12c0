package ship

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

func TestMissingMarkers(t *testing.T) {
	for name, test := range map[string]struct{ log, want []string }{
		"nothing": {[]string{"starting", ""}, nil},
		"cache": {
			[]string{`E0101 reflector.go:204] "Failed to watch" err="failed to list *v1.Job: jobs.batch is forbidden: User \"system:serviceaccount:op-system:op\" cannot list resource \"jobs\" in API group \"batch\" at the cluster scope"`},
			[]string{"// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch"},
		},
		"core, twice, and in a namespace": {
			[]string{
				`pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "default"`,
				`pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "other"`,
				`pods "a" is forbidden: User "u" cannot delete resource "pods" in API group "" in the namespace "default"`,
			},
			[]string{`// +kubebuilder:rbac:groups="",resources=pods,verbs=create;delete`},
		},
		"two resources, one of them a part": {
			[]string{
				`cronjobs.batch.example.com "a" is forbidden: User "u" cannot patch resource "cronjobs/status" in API group "batch.example.com" in the namespace "default"`,
				`leases is forbidden: User "u" cannot update resource "leases" in API group "coordination.k8s.io"`,
			},
			[]string{
				"// +kubebuilder:rbac:groups=batch.example.com,resources=cronjobs/status,verbs=patch",
				"// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=update",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, missingMarkers(refusals(test.log))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAllowedMeanwhile: what a role allows now is not missing, whatever an older line of a log says.
func TestAllowedMeanwhile(t *testing.T) {
	c, _ := connect(t)
	const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: meanwhile}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: meanwhile, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: meanwhile}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:serviceaccounts:op-system"}]
`
	line := func(resource, where string) string {
		return `E0101 "Failed" err="x is forbidden: User \"system:serviceaccount:op-system:op\" cannot list resource \"` + resource + `\" in API group \"\"` + where + `"`
	}
	const here = ` in the namespace \"default\"`
	log := []string{line("configmaps", here), line("secrets", here)}
	want := []string{`// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch`, `// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch`}
	if diff := cmp.Diff(want, c.missing(t.Context(), log)); diff != "" {
		t.Errorf("without the role: %s", diff)
	}
	remove(t, c, role)
	mustApply(t, c, role, ApplyOptions{})
	err := poll(t.Context(), testlimit.Hang, func(ctx context.Context) (bool, error) { // the server's own view of roles follows soon
		return cmp.Equal(want[1:], c.missing(ctx, log)), nil
	})
	if err != nil {
		t.Errorf("with the role: %q", c.missing(t.Context(), log))
	}
	if diff := cmp.Diff(want[:1], c.missing(t.Context(), []string{line("configmaps", " at the cluster scope")})); diff != "" {
		t.Errorf("elsewhere: %s", diff)
	}
}
