package newapi_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestPlaceOfTypes: new kinds go beside those that are there, wherever these were moved to.
func TestPlaceOfTypes(t *testing.T) {
	for _, test := range []struct {
		name     string
		several  bool // groups
		from, to string
		options  newapi.Options
		created  string
	}{
		{"the package", false, "api/v1", "api/batch/v1", cronJob(typesOnly, of("batch", "Backup")), "api/batch/v1/backup_types.go"},
		{"beside another version", false, "api/v1", "api/batch/v1", cronJob(typesOnly, version("v2")), "api/batch/v2/cronjob_types.go"},
		{"a folder of another name", true, "api/batch", "apis/batch", cronJob(typesOnly, of("crew", "Captain")), "apis/crew/v1/captain_types.go"},
		{"the layout's", true, "", "", cronJob(typesOnly, of("crew", "Captain")), "api/crew/v1/captain_types.go"},
		{"the layout's, of no group", true, "", "", cronJob(typesOnly, of("", "CronJob"), version("v2")), "api/v2/cronjob_types.go"},
		{"beside a version of no group", true, "api/v1", "apis/v1", cronJob(typesOnly, of("", "CronJob"), version("v2")), "apis/v2/cronjob_types.go"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{MultiGroup: test.several})
			first := cronJob(typesOnly)
			if test.options.Group == "" {
				first.Group = ""
			}
			projecttest.Apply(t)(newapi.Create(fileview.Disk(root), first))
			if test.from != "" {
				if err := os.MkdirAll(filepath.Join(root, filepath.Dir(test.to)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(root, test.from), filepath.Join(root, test.to)); err != nil {
					t.Fatal(err)
				}
			}
			projecttest.Apply(t)(newapi.Create(fileview.Disk(root), test.options))
			projecttest.Holds(t, root, test.created, "type "+test.options.Kind+" struct")
			projecttest.Holds(t, root, "PROJECT", "path: example.com/op/"+filepath.ToSlash(filepath.Dir(test.created))+"\n")
		})
	}
}

// TestScopes: where groups are in folders of several scopes, the package that its author makes says which is meant.
func TestScopes(t *testing.T) {
	root := projecttest.New(t, newproject.Options{MultiGroup: true})
	const object = "type Ship struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"
	for _, scope := range []string{"cluster", "namespaced"} {
		projecttest.Unpack(t, root, "-- apis/"+scope+"/ship/v1/ship_types.go --\n// +groupName=ship."+scope+".example.com\npackage v1\n\n"+object)
	}
	_, err := newapi.Create(fileview.Disk(root), cronJob(typesOnly, of("crew", "Captain")))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "apis/cluster/crew/v1, apis/namespaced/crew/v1" || !strings.Contains(refusal.Hint, "+groupName=crew.example.com") {
		t.Errorf("got %v", err)
	}
	projecttest.Unpack(t, root, "-- apis/namespaced/crew/v1/doc.go --\n// +groupName=crew.example.com\npackage v1\n")
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(typesOnly, of("crew", "Captain"))))
	projecttest.Holds(t, root, "apis/namespaced/crew/v1/captain_types.go", "type Captain struct")
}

// TestUnlisted: a kind that the code has, and PROJECT does not list, is added with the types that are there; or what
// keeps it from that is reported.
func TestUnlisted(t *testing.T) {
	const jobs = "type CronJob struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"
	for _, test := range []struct{ name, files, where, folder string }{
		{"elsewhere", "-- apis/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\n" + jobs, "", "apis/v2"},
		{"with a version's marker", "-- jobs/cronjob_types.go --\n// +groupName=batch.example.com\n// +versionName=v2\npackage jobs\n\n" + jobs, "", "jobs"},
		{"of another group", "-- apis/v2/cronjob_types.go --\n// +groupName=ship.example.com\npackage v2\n\n" + jobs, "", "api/v2"},
		{"of another version", "-- apis/v3/cronjob_types.go --\n// +groupName=batch.example.com\npackage v3\n\n" + jobs, "", "apis/v2"},
		{"without TypeMeta", "-- apis/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\ntype CronJob struct {\n\tmetav1.ObjectMeta\n}\n", "", "api/v2"},
		{"no object", "-- apis/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\ntype CronJob struct{}\n", "", "api/v2"},
		{"of another module", "-- examples/go.mod --\nmodule examples\n-- examples/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\n" + jobs, "", "api/v2"},
		{"in a file of another name", "-- api/v2/all.go --\n// +groupName=batch.example.com\npackage v2\n\n" + jobs, "", "api/v2"},
		{"twice", "-- a/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\n" + jobs + "-- b/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\n" + jobs, "a/v2/cronjob_types.go:4", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{})
			projecttest.Unpack(t, root, test.files)
			p, err := newapi.Create(fileview.Disk(root), cronJob(typesOnly, version("v2")))
			if refusal, ok := errors.AsType[*report.Error](err); ok && refusal.Where == test.where {
				return
			}
			projecttest.Apply(t)(p, err)
			projecttest.Holds(t, root, "PROJECT", "path: example.com/op/"+test.folder+"\n")
		})
	}
}

// TestPlaceInCode: new kinds go where the code has their API group, whether PROJECT lists a kind there or not.
func TestPlaceInCode(t *testing.T) {
	const (
		listed = `resources:
- api:
    crdVersion: v1
    namespaced: true
  domain: example.com
  group: batch
  kind: Job
  path: example.com/op/api/batch/v1alpha2
  version: v1alpha2
- api:
    crdVersion: v1
    namespaced: true
  domain: batch.example.com
  group: batch
  kind: Configuration
  path: example.com/op/api/config/v1alpha1
  version: v1alpha1
`
		object = "type Job struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"
		jobs   = "-- api/batch/v1alpha2/job_types.go --\n// +groupName=batch.example.com\npackage v1alpha2\n\n" + object +
			"-- api/config/v1alpha1/configuration_types.go --\n// +groupName=batch.example.com\npackage v1alpha1\n\ntype Configuration struct {\n\tmetav1.TypeMeta\n}\n"
		beta = "-- apis/batch/v1beta2/all.go --\n// +groupName=batch.example.com\npackage v1beta2\n\n" + object
	)
	for _, test := range []struct {
		name, listed, files, version, folder string // "" for a refusal
	}{
		{"a new version, beside objects", listed, jobs, "v1beta1", "api/batch/v1beta1"},
		{"the version of types that are no objects", listed, jobs, "v1alpha1", "api/batch/v1alpha1"},
		{"in the package of the code", "", beta, "v1beta2", "apis/batch/v1beta2"},
		{"in a package without types", "", "-- apis/v1/doc.go --\n// +groupName=batch.example.com\npackage v1\n", "v1", "apis/v1"},
		{"beside the package of the code", "", beta, "v1", "apis/batch/v1"},
		{"in the package that PROJECT lists", listed, jobs + "-- other/v1alpha2/all.go --\n// +groupName=batch.example.com\npackage v1alpha2\n\n" + object, "v1alpha2", "api/batch/v1alpha2"},
		{"in the package of the code, and not beside those that PROJECT lists", listed, jobs + beta, "v1beta2", "apis/batch/v1beta2"},
		{"in the one of two with types", "", beta + "-- client/v1beta2/doc.go --\n// +groupName=batch.example.com\npackage v1beta2\n", "v1beta2", "apis/batch/v1beta2"},
		{"in two packages", "", beta + strings.ReplaceAll(beta, "apis/batch", "more"), "v1beta2", ""},
		{"in a test", "", strings.ReplaceAll(beta, "all.go", "all_test.go"), "v1beta2", "api/v1beta2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{})
			file := projecttest.Read(t, root, "PROJECT")
			projecttest.Unpack(t, root, "-- PROJECT --\n"+strings.Replace(file, "version: \"3\"\n", test.listed+"version: \"3\"\n", 1)+test.files)
			o := cronJob(typesOnly, version(test.version))
			p, err := newapi.Create(fileview.Disk(root), o)
			if refusal, ok := errors.AsType[*report.Error](err); ok && test.folder == "" {
				if refusal.Where != "apis/batch/v1beta2" || !strings.Contains(refusal.Hint, "the others are more/v1beta2.") {
					t.Errorf("got %+v", refusal)
				}
				return
			}
			projecttest.Apply(t)(p, err)
			projecttest.Holds(t, root, "PROJECT", "path: example.com/op/"+test.folder+"\n")
			projecttest.Holds(t, root, test.folder+"/cronjob_types.go", "package "+test.version+"\n")
		})
	}
}

// TestUnlistedShape: a kind that is added as it is has the scope and the plural of its types.
func TestUnlistedShape(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, "-- apis/v1/cronjob_types.go --\n// +groupName=batch.example.com\npackage v1\n\n// +kubebuilder:resource:path=crons,scope=Cluster\ntype CronJob struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n")
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(typesOnly)))
	projecttest.Holds(t, root, "PROJECT", "plural: crons\n", "!namespaced: true")
}

// TestDomainTwice: a group that repeats the domain is reported, unless the code says that this is the group.
func TestDomainTwice(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	p, err := newapi.Create(fileview.Disk(root), cronJob(typesOnly, of("ship.example.com", "Frigate")))
	if err != nil || !strings.Contains(strings.Join(p.Left(), "\n"), "ship.example.com.example.com") {
		t.Errorf("got %v, %v", p.Left(), err)
	}
	projecttest.Unpack(t, root, "-- api/v1/doc.go --\n// +groupName=ship.example.com\npackage v1\n")
	p, err = newapi.Create(fileview.Disk(root), cronJob(typesOnly, of("ship.example.com", "Frigate")))
	if err != nil || len(p.Left()) > 0 {
		t.Fatalf("got %v, %v", p.Left(), err)
	}
	projecttest.Apply(t)(p, err)
	projecttest.Holds(t, root, "api/v1/groupversion_info.go", "+groupName=ship.example.com\n", "!ship.example.com.example.com")
	projecttest.Holds(t, root, "config/crd/kustomization.yaml", "- bases/ship.example.com_frigates.yaml\n")
}

// TestGroupWithDomain: PROJECT may have the domain in a group's name; the name without it is the same API group.
func TestGroupWithDomain(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	file := strings.TrimSuffix(projecttest.Read(t, root, "PROJECT"), "version: \"3\"\n")
	projecttest.Unpack(t, root, "-- PROJECT --\n"+file+`resources:
- api:
    crdVersion: v1
    namespaced: true
  domain: example.com
  group: ship.example.com
  kind: Frigate
  path: example.com/op/api/v1
  version: v1
version: "3"
-- api/v1/doc.go --
// +groupName=ship.example.com
package v1
`)
	for _, version := range []string{"v1", "v2"} {
		_, err := newapi.Create(fileview.Disk(root), newapi.Options{Group: "ship", Version: version, Kind: "Sloop", Resource: true})
		want := "slipway create api --group ship.example.com --version " + version + " --kind Sloop --resource --controller=false"
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Next != want {
			t.Errorf("%s: %v", version, err)
		}
	}
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "ship.example.com", Version: "v1", Kind: "Sloop", Resource: true, SkipWiring: true}))
}

// TestOtherNames: kustomizations by the other names that kustomize knows are those that list the files of a new kind.
func TestOtherNames(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(typesOnly)))
	for from, to := range map[string]string{
		"config/crd": "config/crd/kustomization.yml", "config/rbac": "config/rbac/Kustomization",
	} {
		if err := os.Rename(filepath.Join(root, from, "kustomization.yaml"), filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(typesOnly, of("batch", "Backup"))))
	projecttest.Holds(t, root, "config/crd/kustomization.yml", "- bases/batch.example.com_backups.yaml\n")
	projecttest.Holds(t, root, "config/rbac/Kustomization", "- backup_admin_role.yaml\n")
	for _, folder := range []string{"config/crd", "config/rbac"} {
		if _, err := os.Stat(filepath.Join(root, folder, "kustomization.yaml")); err == nil {
			t.Errorf("%s has two kustomizations", folder)
		}
	}
}
