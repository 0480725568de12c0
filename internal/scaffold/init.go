package scaffold

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// Revision numbers the templates; it is recorded in PROJECT, so that later versions
// know what a project was made from.
const Revision = 1

// A Project says what to scaffold. Empty fields get a default from the folder.
type Project struct {
	Domain     string // suffix of API groups; required
	Name       string // default: the folder's name, else the last part of Repo
	Repo       string // module path; default: that of the go.mod in the folder
	License    License
	MultiGroup bool
	Namespaced bool // the manager watches its own namespace alone
}

// facts are what Slipway records about a project below `plugins` in PROJECT.
type facts struct {
	Scaffold int `yaml:"scaffold"` // revision of the templates
}

// Init plans a new project in folder root, or what is missing of it. It refuses a folder
// that holds another project, and names that Kubernetes or Go would refuse later.
func Init(root string, o Project) (*Plan, error) {
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	file, err := o.again(root)
	if err != nil {
		return nil, err
	}
	mod, err := readGoMod(root)
	if err != nil {
		return nil, err
	}
	if err := o.complete(root, mod); err != nil {
		return nil, err
	}
	header, err := o.License.header(o.Name)
	if err != nil {
		return nil, err
	}
	data := map[string]any{
		"Name":             o.Name,
		"Repo":             o.Repo,
		"License":          header,
		"Boilerplate":      boilerplate(header),
		"LeaderElectionID": leaderElectionID(o),
	}
	if err := plan.createTree("init", data); err != nil {
		return nil, err
	}
	if file == nil || mod == nil {
		if err := plan.requireModules(o.Repo, mod); err != nil {
			return nil, err
		}
	}
	if file == nil {
		if err := plan.writeProject(o); err != nil {
			return nil, err
		}
	}
	if o.Namespaced {
		p := &featurePlan{Plan: plan, project: &project.Project{Name: o.Name}, header: boilerplate(header)}
		if err := p.enable(Namespaced); err != nil {
			return nil, err
		}
	}
	return plan, plan.finish()
}

// refuseProject names the files that show that a folder holds a project.
func refuseProject(root string) error {
	var found []string
	for _, name := range []string{project.FileName, "Makefile", "cmd/main.go"} {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		switch {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			return unreadable(name, err)
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := &report.Error{
		What:  "this folder already holds " + strings.Join(found, ", "),
		Where: root,
		Hint:  "init starts a project in a folder without these files; nothing was changed",
	}
	if found[0] == project.FileName {
		e.What = "this folder already holds a project: " + strings.Join(found, ", ")
		e.Next = "slipway create api --group GROUP --version v1 --kind KIND"
	}
	return e
}

// complete validates o and fills in what follows from the folder.
func (o *Project) complete(root string, mod *goMod) error {
	if err := o.completeRepo(root, mod); err != nil {
		return err
	}
	repoFrom := "--repo"
	if mod != nil {
		repoFrom = "go.mod"
	}
	if o.Name == "" {
		o.Name = orElse(nameFromFolder(root), nameFromFolder(o.Repo))
	}
	for _, c := range []struct {
		flag string
		err  error
	}{
		{"--domain", project.ValidateDomain(o.Domain)},
		{"--project-name", validateName(o.Name)},
		{repoFrom, project.ValidateRepo(o.Repo)},
	} {
		if c.err != nil {
			return invalid(c.flag, c.err)
		}
	}
	return nil
}

// completeRepo takes the module path from go.mod, and refuses another one.
func (o *Project) completeRepo(root string, mod *goMod) error {
	switch {
	case mod == nil && o.Repo == "":
		return &report.Error{
			What: "the module path of the project is not known: there is no go.mod in this folder",
			Hint: "say it with --repo, or run `go mod init` first",
			Next: "slipway init --domain " + orElse(o.Domain, "example.com") + " --repo example.com/" + orElse(nameFromFolder(root), "my-operator"),
		}
	case mod == nil:
		return nil
	case o.Repo == "":
		o.Repo = mod.path()
	case o.Repo != mod.path():
		return &report.Error{
			What:  fmt.Sprintf("--repo %s differs from the module path %s", o.Repo, mod.path()),
			Where: "go.mod",
			Hint:  "leave --repo out, or change the module line of go.mod",
		}
	}
	return nil
}

// maxName is how long a project's name may be: with what follows it, the longest
// name of a Service in the scaffold has the 63 characters that Kubernetes allows.
const maxName = 63 - len("-controller-manager-metrics-service")

// validateName checks the name of a new project, which begins the names of objects.
func validateName(name string) error {
	expected := fmt.Sprintf("lower-case letters, digits and dashes, at most %d, a letter first, such as my-operator", maxName)
	err := project.ValidateName(name)
	if known, ok := errors.AsType[*project.FieldError](err); ok {
		known.Expected = expected // narrower than what PROJECT may hold
	}
	if err != nil {
		return err
	}
	e := &project.FieldError{Field: "project name", Value: name, Expected: expected}
	switch {
	case len(name) > maxName:
		e.Problem = fmt.Sprintf("is %d characters long", len(name))
	case name[0] < 'a':
		e.Problem = "does not start with a letter"
	default:
		return nil
	}
	return e
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameFromFolder makes the folder's name a project name.
func nameFromFolder(root string) string {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	name := notInName.ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-")
	name = strings.TrimLeft(name, "-0123456789")
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// leaderElectionID is the name of the Lease on which replicas agree: the same for
// every build of one project, another for another project of the same domain.
func leaderElectionID(o Project) string {
	sum := sha256.Sum256([]byte(o.Repo))
	return hex.EncodeToString(sum[:4]) + "." + o.Domain
}

func (p *Plan) writeProject(o Project) error {
	file := &project.Project{
		Domain: o.Domain, Repo: o.Repo, Name: o.Name, MultiGroup: o.MultiGroup, Namespaced: o.Namespaced,
		Version: project.Version, Layout: []string{project.Layout},
	}
	if err := file.SetPlugin(project.PluginKey, facts{Scaffold: Revision}); err != nil {
		return err
	}
	data, err := file.Marshal()
	if err != nil {
		return err
	}
	return p.write(project.FileName, data)
}

// invalid makes a mistake in a flag's value the error that its user sees.
func invalid(flag string, err error) error {
	var fe *project.FieldError
	if !errors.As(err, &fe) {
		return err
	}
	return &report.Error{What: fe.Summary(), Where: flag, Hint: "expected " + fe.Expected}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
