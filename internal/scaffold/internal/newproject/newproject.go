// Package newproject plans what `init` makes: a project without APIs, or what is missing of one.
package newproject

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// Revision numbers the templates. PROJECT records it, so that later versions know the origin of a project.
const Revision = 1

// Options are the flags of `init`. Empty fields get a default from the folder.
type Options struct {
	Domain     string // suffix of API groups; required
	Name       string // default: the folder's name, else the last element of Repo
	Repo       string // module path; default: that of the folder's go.mod
	License    header.License
	MultiGroup bool
	Namespaced bool   // the manager watches its own namespace only
	CLIVersion string // slipway's version, for PROJECT
}

// facts is slipway's entry below `plugins` in PROJECT.
type facts struct {
	Scaffold int `yaml:"scaffold"` // [Revision] of the templates
}

// Create plans a new project, or what is missing of it. It refuses a folder with another project, and names that
// Kubernetes or Go would refuse later.
func Create(folder *fileview.Folder, o Options) (*plan.Plan, error) {
	p, err := plan.New(folder)
	if err != nil {
		return nil, err
	}
	file, err := o.existingProject(folder)
	if err != nil {
		return nil, err
	}
	mod, err := gomod.Read(p.Code().View())
	if err != nil {
		return nil, err
	}
	if err := o.complete(folder.Root(), mod); err != nil {
		return nil, err
	}
	if p.MadeBy(o.CLIVersion); file != nil {
		p.MadeBy(file.CLIVersion) // a project is completed with the release that made it
	}
	comment, err := o.License.Comment(o.Name)
	if err != nil {
		return nil, err
	}
	data := map[string]any{
		"Name":             o.Name,
		"Repo":             o.Repo,
		"License":          comment,
		"Boilerplate":      header.Boilerplate(comment),
		"LeaderElectionID": leaderElectionID(o),
		"Release":          p.Release(),
		"Deployment":       feature.OwnDeployment(o.Name),
	}
	if err := p.CreateTree("init", data); err != nil {
		return nil, err
	}
	if err := feature.CreateTestsFolder(p, data); err != nil {
		return nil, err
	}
	if file == nil || mod == nil {
		if err := gomod.Pin(p, o.Repo, mod); err != nil {
			return nil, err
		}
	}
	if file == nil {
		if err := writeNewProject(p, o); err != nil {
			return nil, err
		}
	}
	if o.Namespaced {
		if err := feature.Add(p, &project.Project{Name: o.Name}, header.Boilerplate(comment), features.Namespaced); err != nil {
			return nil, err
		}
	}
	return p, p.Finish()
}

// refuseProject refuses a folder whose files show that it has a project.
func refuseProject(root string) error {
	var found []string
	for _, name := range []string{project.FileName, "Makefile", "cmd/main.go"} {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		switch {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			return fileerror.Unreadable(name, err)
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := &report.Error{
		Class: report.Conflict,
		What:  "this folder already holds " + strings.Join(found, ", "),
		Where: root,
		Hint:  "init needs a folder without these files; nothing was changed",
	}
	if found[0] == project.FileName {
		e.What = "this folder already holds a project: " + strings.Join(found, ", ")
		e.Next = "slipway create api --group GROUP --version v1 --kind KIND"
	}
	return e
}

// complete validates o and fills in the defaults.
func (o *Options) complete(root string, mod *gomod.File) error {
	if err := o.completeRepo(root, mod); err != nil {
		return err
	}
	repoFrom := "--repo"
	if mod != nil {
		repoFrom = "go.mod"
	}
	if o.Name == "" {
		o.Name = cmp.Or(nameFromFolder(root), nameFromFolder(o.Repo))
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
			return projectfile.Invalid(c.flag, c.err)
		}
	}
	return nil
}

// completeRepo takes the module path from go.mod, and refuses a different one.
func (o *Options) completeRepo(root string, mod *gomod.File) error {
	if mod == nil {
		o.Repo = cmp.Or(o.Repo, belowGOPATH(root))
	}
	switch {
	case mod == nil && o.Repo == "":
		return &report.Error{
			What: "the module path of the project is unknown: there is no go.mod in this folder",
			Hint: "add --repo, or run `go mod init` first",
			Next: "slipway init --domain " + cmp.Or(o.Domain, "example.com") + " --repo example.com/" + cmp.Or(nameFromFolder(root), "my-operator"),
			Code: report.UsageCode,
		}
	case mod == nil:
		return nil
	case o.Repo == "":
		o.Repo = mod.Path()
	case o.Repo != mod.Path():
		return &report.Error{
			What:  fmt.Sprintf("--repo %s differs from the module path %s", o.Repo, mod.Path()),
			Where: "go.mod",
			Hint:  "leave --repo out, or change the module line of go.mod",
			Code:  report.UsageCode,
		}
	}
	return nil
}

// belowGOPATH returns the module path that `go mod init` derives for a folder below GOPATH/src, or "".
func belowGOPATH(root string) string {
	for _, folder := range filepath.SplitList(build.Default.GOPATH) {
		below, err := filepath.Rel(filepath.Join(folder, "src"), root)
		if err == nil && below != "." && filepath.IsLocal(below) {
			return filepath.ToSlash(below)
		}
	}
	return ""
}

// leaderElectionID is the name of the Lease on which replicas agree. It is constant for a project and differs between
// projects of one domain.
func leaderElectionID(o Options) string {
	sum := sha256.Sum256([]byte(o.Repo))
	return hex.EncodeToString(sum[:4]) + "." + o.Domain
}

func writeNewProject(p *plan.Plan, o Options) error {
	file := &project.Project{
		Domain: o.Domain, Repo: o.Repo, Name: o.Name, MultiGroup: o.MultiGroup, Namespaced: o.Namespaced,
		Version: project.Version, CLIVersion: o.CLIVersion, Layout: []string{project.Layout},
	}
	if err := file.SetPlugin(project.PluginKey, facts{Scaffold: Revision}); err != nil {
		return err
	}
	return projectfile.Write(p, file)
}

// existingProject returns the folder's project if it is the one that o describes: then Create completes it. It returns
// nil for a folder without a project, and refuses any other project.
func (o *Options) existingProject(folder *fileview.Folder) (*project.Project, error) {
	_, err := os.Lstat(filepath.Join(folder.Root(), project.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuseProject(folder.Root())
	}
	file, err := projectfile.Load(folder)
	if err != nil {
		return nil, err
	}
	var made facts
	if ours, err := file.Plugin(project.PluginKey, &made); err != nil || !ours {
		return nil, errors.Join(err, refuseProject(folder.Root()))
	}
	if o.Name == "" {
		o.Name = file.Name
	}
	for _, c := range []struct{ flag, asked, has string }{
		{"--domain", o.Domain, file.Domain},
		{"--project-name", o.Name, file.Name},
		{"--repo", cmp.Or(o.Repo, file.Repo), file.Repo},
		{"--namespaced", fmt.Sprint(o.Namespaced || file.Namespaced), fmt.Sprint(file.Namespaced)},
		{"--multigroup", fmt.Sprint(o.MultiGroup || file.MultiGroup), fmt.Sprint(file.MultiGroup)},
	} {
		if c.asked != c.has {
			return nil, &report.Error{
				Class: report.Conflict,
				What:  fmt.Sprintf("this folder already holds a project, which has %s %s, not %s", c.flag, c.has, c.asked), Where: filepath.Join(folder.Root(), project.FileName),
				Hint: "with the same flags, init adds what is missing; nothing was changed",
				Next: "slipway create api --group GROUP --version v1 --kind KIND",
			}
		}
	}
	return file, nil
}

// maxName bounds a project's name in characters. With the longest suffix in the scaffold, the name of a Service then
// has the 63 characters that Kubernetes allows.
const maxName = 63 - len("-controller-manager-metrics-service")

// validateName checks the name of a new project, which names of objects begin with.
func validateName(name string) error {
	expected := fmt.Sprintf("lower-case letters, digits and dashes, at most %d, a letter first, such as my-operator", maxName)
	err := project.ValidateName(name)
	if known, ok := errors.AsType[*project.FieldError](err); ok {
		known.Expected = expected // stricter than PROJECT's format
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

var notInName = lazy.Regexp(`[^a-z0-9]+`)

// nameFromFolder turns the name of a folder into a project name; "" if nothing is left.
func nameFromFolder(root string) string {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	name := notInName().ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-")
	name = strings.TrimLeft(name, "-0123456789")
	return strings.Trim(name[:min(len(name), maxName)], "-")
}
