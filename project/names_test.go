package project

import (
	"errors"
	"strings"
	"testing"
)

func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"CronJob": "cronjobs", "Policy": "policies", "RedisCluster": "redisclusters", "Ingress": "ingresses",
		"Fish": "fish", "Person": "people", "Foo": "foos", "Box": "boxes", "Series": "series",
		"ApiExampleA": "apiexampleas",
	} {
		if got := Plural(kind); got != want {
			t.Errorf("Plural(%s) = %s, want %s", kind, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	r := Resource{Group: "my-batch.x", Version: "v1beta1", Kind: "CronJob", Domain: "example.com"}
	single, multi := &Project{Repo: "example.com/op"}, &Project{Repo: "example.com/op", MultiGroup: true}
	older, noGroup := &Project{Repo: "example.com/op", MultiGroup: true, Layout: []string{"go.kubebuilder.io/v3"}}, Resource{Version: "v1", Kind: "CronJob"}
	tests := []struct{ got, want string }{
		{multi.TypesFile(noGroup), "api/v1/cronjob_types.go"},
		{older.TypesFile(noGroup), "apis/v1/cronjob_types.go"},
		{older.TypesFile(r), "apis/my-batch.x/v1beta1/cronjob_types.go"},
		{single.TypesFile(r), "api/v1beta1/cronjob_types.go"},
		{multi.TypesFile(r), "api/my-batch.x/v1beta1/cronjob_types.go"},
		{multi.ImportPath(r), "example.com/op/api/my-batch.x/v1beta1"},
		{r.ImportAlias(), "mybatchxv1beta1"},
		{Resource{Version: "v1"}.ImportAlias(), "apiv1"},
		{Resource{Group: "3d", Version: "v1"}.ImportAlias(), "api3dv1"},
		{single.ControllerFile(r), "internal/controller/cronjob_controller.go"},
		{multi.ControllerFile(r), "internal/controller/my-batch.x/cronjob_controller.go"},
		{single.ControllerPackage(r), "controller"},
		{multi.ControllerPackage(r), "mybatchx"},
		{multi.ControllerImportAlias(r), "mybatchxcontroller"},
		{single.NamedControllerFile(r, "nightly-jobs"), "internal/controller/nightly_jobs_controller.go"},
		{multi.NamedControllerTestFile(r, "jobs"), "internal/controller/my-batch.x/jobs_controller_test.go"},
		{CorePath("apps", "v1"), "k8s.io/api/apps/v1"},
		{CorePath("apiextensions", "v1"), "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"},
		{single.WebhookFile(r), "internal/webhook/v1beta1/cronjob_webhook.go"},
		{multi.WebhookTestFile(r), "internal/webhook/my-batch.x/v1beta1/cronjob_webhook_test.go"},
		{multi.WebhookSuiteTestFile(r), "internal/webhook/my-batch.x/v1beta1/webhook_suite_test.go"},
		{single.CRDFileName(r), "my-batch.x.example.com_cronjobs.yaml"},
		{single.SampleFile(r), "config/samples/my-batch.x_v1beta1_cronjob.yaml"},
		{single.RoleFile(r, "editor"), "config/rbac/cronjob_editor_role.yaml"},
		{multi.RoleFile(r, "editor"), "config/rbac/my-batch.x_cronjob_editor_role.yaml"},
		{r.CRDName(), "cronjobs.my-batch.x.example.com"},
		{r.APIVersion(), "my-batch.x.example.com/v1beta1"},
		{Resource{Version: "v1", Kind: "Pod"}.APIVersion(), "v1"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestValidation(t *testing.T) {
	long := strings.Repeat("a", 64)
	tests := []struct {
		check   func(string) error
		valid   []string
		invalid []string
	}{
		{ValidateDomain, []string{"example.com", "my.domain", "x"}, []string{"", "Example.com", "a..b", "-a.b", "a_b", long + ".com"}},
		{ValidateName, []string{"op", "my-op"}, []string{"", "My", "a.b", long}},
		{ValidateRepo, []string{"example.com/op", "op", "tutorial.kubebuilder.io/project"}, []string{"", "a b", "/abs", "a//b", "a/../b", "a:b"}},
		{ValidateGroup, []string{"", "batch", "a-b.c", "3d"}, []string{"Batch", "a_b", "-a", "func", "internal", "a b"}},
		{ValidateVersion, []string{"v1", "v1alpha1", "v12beta3"}, []string{"", "1", "v0", "v1beta", "v1gamma1", "V1", "v1beta0"}},
		{ValidateKind, []string{"CronJob", "A", "VGPUInstance", "K8s"}, []string{"", "cronJob", "Cron-Job", "Cron_Job", "List", "A" + long, "Größe"}},
		{ValidatePlural, []string{"", "cronjobs", "cron-jobs"}, []string{"CronJobs", "a b", long}},
	}
	for _, test := range tests {
		for _, s := range test.valid {
			if err := test.check(s); err != nil {
				t.Errorf("%q: %v", s, err)
			}
		}
		for _, s := range test.invalid {
			var fe *FieldError
			if err := test.check(s); !errors.As(err, &fe) || fe.Problem == "" || fe.Expected == "" {
				t.Errorf("%q gives %v", s, err)
			}
		}
	}
}
