package generation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/project"
)

// clientsKey is the plug-in key under which PROJECT keeps clientFacts.
const clientsKey = "clients." + project.PluginKey

type clientFacts struct {
	Dir       string   `yaml:"dir"`
	Groups    []string `yaml:"groups,omitempty"`
	Plurals   []string `yaml:"plurals,omitempty"`
	Externals []string `yaml:"applyConfigurations,omitempty"`
}

// Clients describes the typed clients that a project is to have. A nil field keeps the value of the last run.
type Clients struct {
	Dir       *string  // relative to the project
	Groups    []string // API groups by full name or its first part; empty means all
	Plurals   []string // Kind:Plural where English rules do not apply
	Externals []string // package.Type@package of other packages' apply configurations
}

// DefaultClientsDir is the default folder of a project's clients.
const DefaultClientsDir = "pkg/generated"

// GenerateClients writes typed clients for the project's kinds. It records them in PROJECT, so that later runs keep
// them up to date. It returns the action for each of their files.
func GenerateClients(ctx context.Context, s *operation.Session, clients Clients) (generate.Result, error) {
	root, described, err := operation.ModuleRoot(s)
	if err != nil {
		return generate.Result{}, err
	}
	release, err := operation.Hold(ctx, s, root)
	if err != nil {
		return generate.Result{}, err
	}
	defer release()
	file := &project.Project{}
	if described {
		if file, err = scaffold.ReadProject(s.Folder(root)); err != nil {
			return generate.Result{}, err
		}
	}
	facts, err := clients.facts(file)
	if err != nil {
		return generate.Result{}, err
	}
	if err := facts.usable(); err != nil {
		return generate.Result{}, err
	}
	license, err := s.Codebase(root).License()
	if err != nil {
		return generate.Result{}, err
	}
	begin := time.Now()
	result, err := runGenerators(ctx, s, root, []generate.Use{facts.use(license)})
	if err != nil {
		return generate.Result{}, err
	}
	if described {
		if err := keepFacts(s, root, file, facts); err != nil {
			return generate.Result{}, err
		}
	}
	if err := requireClients(s, root); err != nil {
		return generate.Result{}, err
	}
	s.Handler.Handle(generated(result, generate.Newest, time.Since(begin)))
	return result, nil
}

// requireClients adds client-go, which the clients import, to go.mod at the version of the project's apimachinery. go
// mod tidy would take the newest one and raise the other modules to it.
func requireClients(s *operation.Session, root string) error {
	const name, module, beside = "go.mod", "k8s.io/client-go", "k8s.io/apimachinery"
	text, err := s.Codebase(root).View().ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return &report.Error{Class: report.BadProject, What: "go.mod cannot be read", Where: filepath.Join(root, name), Err: err}
	}
	version := ""
	for _, r := range file.Require {
		switch r.Mod.Path {
		case module:
			return nil
		case beside:
			version = r.Mod.Version
		}
	}
	if version == "" { // a workspace provides apimachinery
		return nil
	}
	if err := file.AddRequire(module, version); err != nil {
		return err
	}
	if text, err = file.Format(); err != nil {
		return err
	}
	if err := rewrite(root, name, text); err != nil {
		return &report.Error{What: "file cannot be written", Where: filepath.Join(root, name), Err: err}
	}
	s.Handler.Handle(report.File{Path: name, Action: report.Updated, Why: "the clients import " + module})
	s.Handler.Handle(report.Note{Text: "Next: go mod tidy"})
	return nil
}

// facts returns the recorded facts, replaced by the fields of c that are set.
func (c Clients) facts(file *project.Project) (clientFacts, error) {
	facts := clientFacts{Dir: DefaultClientsDir}
	if _, err := file.Plugin(clientsKey, &facts); err != nil {
		return facts, err
	}
	if c.Dir != nil {
		facts.Dir = filepath.ToSlash(filepath.Clean(*c.Dir))
	}
	for _, list := range []struct {
		given []string
		to    *[]string
	}{{c.Groups, &facts.Groups}, {c.Plurals, &facts.Plurals}, {c.Externals, &facts.Externals}} {
		if list.given != nil {
			*list.to = list.given
		}
	}
	return facts, nil
}

// Forms of values that consist of parts.
var (
	pluralForm   = lazy.Regexp(`^[A-Z]\w*:[A-Z]\w*$`)
	externalForm = lazy.Regexp(`^[^@\s]+\.\w+@[^@\s]+$`)
)

// usable checks the form of values before anything is read.
func (f clientFacts) usable() error {
	if !filepath.IsLocal(filepath.FromSlash(f.Dir)) || filepath.Clean(f.Dir) == "." {
		return unusableValue("clients need their own folder in the project", "--dir "+f.Dir, "use a relative path, like pkg/generated")
	}
	for _, p := range f.Plurals {
		if !pluralForm().MatchString(p) {
			return unusableValue("a plural must have the form Kind:Plural", "--plural "+p, "write both like Go types, such as Fish:Fish")
		}
	}
	for _, e := range f.Externals {
		if !externalForm().MatchString(e) {
			return unusableValue("an apply configuration must have the form package.Type@package", "--apply-configuration "+e,
				"an example is k8s.io/api/core/v1.Pod@k8s.io/client-go/applyconfigurations/core/v1")
		}
	}
	return nil
}

func unusableValue(what, where, hint string) error {
	return &report.Error{What: what, Where: where, Hint: hint, Next: "slipway generate clients --help", Code: report.UsageCode}
}

// keepFacts writes facts to PROJECT unless it has them.
func keepFacts(s *operation.Session, root string, file *project.Project, facts clientFacts) error {
	var kept clientFacts
	if found, err := file.Plugin(clientsKey, &kept); err != nil || found && fmt.Sprint(kept) == fmt.Sprint(facts) {
		return err
	}
	if err := file.SetPlugin(clientsKey, facts); err != nil {
		return err
	}
	data, err := file.Marshal()
	if err != nil {
		return err
	}
	if err := rewrite(root, project.FileName, data); err != nil {
		return &report.Error{What: "file cannot be written", Where: filepath.Join(root, project.FileName), Err: err}
	}
	s.Handler.Handle(report.File{Path: project.FileName, Action: report.Updated, Why: "slipway generate keeps the clients up to date"})
	return nil
}

// rewrite replaces a file of the project. It refuses a link that leads out of it.
func rewrite(root, name string, content []byte) error {
	folder, err := safefs.OpenFolder(root)
	if err != nil {
		return err
	}
	return errors.Join(folder.WriteFile(name, content), folder.Close())
}

// use returns the call of the generator. License is the header of the generated files.
func (f clientFacts) use(license codebase.Header) generate.Use {
	options := []string{"dir=" + strconv.Quote(f.Dir)}
	for _, o := range []struct {
		name   string
		values []string
	}{{"groups", f.Groups}, {"pluralExceptions", f.Plurals}, {"externals", f.Externals}} {
		var list []string
		for _, v := range o.values {
			list = append(list, strconv.Quote(v))
		}
		if len(list) > 0 {
			options = append(options, o.name+"={"+strings.Join(list, ",")+"}")
		}
	}
	if license.File != "" {
		options = append(options, "headerFile="+strconv.Quote(license.File))
	}
	return generate.Use{Name: "clients", Options: strings.Join(options, ",")}
}

// clientsUse returns the call that keeps the project's clients up to date, or none.
func clientsUse(file *project.Project, license codebase.Header) ([]generate.Use, error) {
	var facts clientFacts
	found, err := file.Plugin(clientsKey, &facts)
	if !found || err != nil {
		return nil, err
	}
	return []generate.Use{facts.use(license)}, nil
}
