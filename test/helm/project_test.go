package helm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// slipway is the program that is tested.
var slipway = os.Getenv("SLIPWAY")

// programs is a folder for programs that tests build; it goes when they have ended.
var programs string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds slipway unless there is one, and runs the tests.
func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "slipway-helm")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	programs = dir
	if os.Getenv("SLIPWAY_CHECK") == "" {
		if err := os.Setenv("SLIPWAY_CHECK", "off"); err != nil {
			return 0, err
		}
	}
	if slipway == "" {
		slipway = filepath.Join(dir, "slipway")
		if out, err := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", slipway, "./cmd/slipway").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build slipway: %w\n%s", err, out)
		}
	}
	return m.Run(), nil
}

// A project is a project made by slipway, in a folder of the test's.
type project struct {
	*testing.T
	root string
}

// call runs a slipway command in the project.
func (p project) call(args ...string) string {
	p.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

// try is call where an error is no failure.
func (p project) try(args ...string) (string, error) {
	cmd := exec.Command(slipway, args...)
	cmd.Dir = p.root
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("slipway %s: %w\n%s", strings.Join(args, " "), err, told.String())
	}
	return out.String(), nil
}

func (p project) path(slashed string) string {
	return filepath.Join(p.root, filepath.FromSlash(slashed))
}

func (p project) read(slashed string) string {
	p.Helper()
	data, err := os.ReadFile(p.path(slashed))
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

func (p project) write(slashed, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(slashed)), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(slashed), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

// unpack writes the files of an archive.
func (p project) unpack(archive string) {
	p.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		p.write(f.Name, string(f.Data))
	}
}

// replace replaces text that a file has once.
func (p project) replace(file, old, with string) {
	p.Helper()
	text := p.read(file)
	if strings.Count(text, old) != 1 {
		p.Fatalf("%s has %q %d times:\n%s", file, old, strings.Count(text, old), text)
	}
	p.write(file, strings.Replace(text, old, with, 1))
}

// newProject is a project called op with a kind.
func newProject(t *testing.T) project {
	t.Helper()
	p := project{t, filepath.Join(t.TempDir(), "op")}
	if err := os.Mkdir(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	p.call("init", "--domain", "example.com", "--repo", "example.com/op", "--project-name", "op")
	p.call("create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller")
	return p
}

// featuredProject has every feature, with certificates of a keeper: certmanager or selfcert.
func featuredProject(t *testing.T, keeper string) project {
	t.Helper()
	p := newProject(t)
	p.call("create", "api", "--group", "ship", "--version", "v2", "--kind", "Frigate", "--resource", "--controller=false")
	p.call("create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting", "--programmatic-validation", "--conversion", "--spoke", "v2")
	p.call("edit", "--enable", "metrics,prometheus,alerts,dashboard,webhook,"+keeper+",metrics-tls,ha,pprof,network-policy,egress,tracing,vap,namespaced")
	const spec = "type FrigateSpec struct {"
	p.replace("api/v1/frigate_types.go", spec, `// +kubebuilder:validation:XValidation:rule="!has(self.foo) || self.foo.size() < 5"`+"\n"+spec)
	p.call("generate")
	return p
}

// kustomized are the objects that kustomize builds.
func (p project) kustomized() []object {
	p.Helper()
	return p.objects(p.call("kustomize", "build", "config/default"))
}

// objects reads objects from YAML.
func (p project) objects(text string) []object {
	p.Helper()
	decoder := yaml.NewYAMLToJSONDecoder(strings.NewReader(text))
	var all []object
	for {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			p.Fatalf("%v\n%s", err, text)
		}
		if len(o) > 0 {
			all = append(all, o)
		}
	}
}
