package ship

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if diff := cmp.Diff(test.want, missingMarkers(test.log)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
