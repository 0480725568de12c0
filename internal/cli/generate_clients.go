package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/confine"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/project"
)

// clientsKey is where PROJECT keeps what was asked of generate clients.
const clientsKey = "clients." + project.PluginKey

// clientFacts is what later runs need to know to keep clients up to date.
type clientFacts struct {
	Dir       string   `yaml:"dir"`
	Groups    []string `yaml:"groups,omitempty"`
	Plurals   []string `yaml:"plurals,omitempty"`
	Externals []string `yaml:"applyConfigurations,omitempty"`
}

func (inv *invocation) generateClientsCommand() *cobra.Command {
	facts := clientFacts{Dir: "pkg/generated"}
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "Write typed clientsets, informers and listers for the project's kinds",
		Long: `Clients writes Go packages with which other programs work with the project's kinds as client-go works
with Kubernetes' own: below pkg/generated, laid out as Kubernetes' kube_codegen.sh does it,

  clientset/versioned               a typed clientset, and a fake one for tests
  informers/externalversions        a factory of shared informers
  listers                           listers, which read what informers hold
  applyconfiguration                apply configurations, for server-side apply

A type has a client when the comment above it has the marker +genclient. More of them say what the
client is like:

  +genclient:nonNamespaced          its objects do not live in namespaces
  +genclient:noStatus               no UpdateStatus
  +genclient:noVerbs, readonly      no methods; get, list and watch only
  +genclient:onlyVerbs=get,list     these methods only; skipVerbs leaves some out
  +genclient:method=Scale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
                                    one method more

What clients need of the API package besides and do not find there, SchemeGroupVersion and Resource, is
written to zz_generated.clients.go in that package.

What was asked for is kept in PROJECT, so that slipway generate keeps the clients up to date from then
on. A Go module without PROJECT, with a controller written by hand, has clients too; flags are given each time there. Files of your own in these folders stay; generated ones of kinds that are gone are removed. The code is
written by k8s.io/code-generator, which slipway compiles the first time it is needed.`,
		Example: `  slipway generate clients
  slipway generate clients --group batch --dir pkg/client
  slipway generate clients --plural Fish:Fish`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.generateClients(cmd, facts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&facts.Dir, "dir", facts.Dir, "`folder` to write to, below the project's; the one of the last time if it is not given")
	flags.StringSliceVar(&facts.Groups, "group", nil, "API `group` to write clients for, by its name or the first part of that; all that have types with +genclient if it is not given")
	flags.StringSliceVar(&facts.Plurals, "plural", nil, "plural that English rules do not give, as `Kind:Plural`")
	flags.StringSliceVar(&facts.Externals, "apply-configuration", nil, "where apply configurations of types of other packages are, as `package.Type@package`")
	return cmd
}

// generateClients is the run of `slipway generate clients`.
func (inv *invocation) generateClients(cmd *cobra.Command, facts clientFacts) error {
	root, described, err := inv.moduleRoot()
	if err != nil {
		return err
	}
	release, err := inv.hold(cmd.Context(), root)
	if err != nil {
		return err
	}
	defer release()
	file := &project.Project{}
	if described {
		if file, err = scaffold.ReadProject(root); err != nil {
			return err
		}
	}
	if facts, err = lastFacts(cmd, file, facts); err != nil {
		return err
	}
	if err := facts.usable(); err != nil {
		return err
	}
	begin := time.Now()
	result, err := inv.runGenerators(cmd.Context(), root, []generate.Use{facts.use(root)})
	if err != nil {
		return err
	}
	if described {
		if err := inv.keepFacts(root, file, facts); err != nil {
			return err
		}
	}
	inv.handler.Handle(generated(result, time.Since(begin)))
	return nil
}

// lastFacts are those of the last time, but for what flags say now.
func lastFacts(cmd *cobra.Command, file *project.Project, now clientFacts) (clientFacts, error) {
	facts := clientFacts{Dir: now.Dir}
	if _, err := file.Plugin(clientsKey, &facts); err != nil {
		return facts, err
	}
	for flag, take := range map[string]func(){
		"dir":                 func() { facts.Dir = filepath.ToSlash(filepath.Clean(now.Dir)) },
		"group":               func() { facts.Groups = now.Groups },
		"plural":              func() { facts.Plurals = now.Plurals },
		"apply-configuration": func() { facts.Externals = now.Externals },
	} {
		if cmd.Flags().Changed(flag) {
			take()
		}
	}
	return facts, nil
}

// The forms of values that consist of parts.
var (
	pluralForm   = regexp.MustCompile(`^[A-Z]\w*:[A-Z]\w*$`)
	externalForm = regexp.MustCompile(`^[^@\s]+\.\w+@[^@\s]+$`)
)

// usable refuses what can be no folder, plural or package before anything is read.
func (f clientFacts) usable() error {
	if !filepath.IsLocal(filepath.FromSlash(f.Dir)) || filepath.Clean(f.Dir) == "." {
		return unusableValue("clients need a folder of their own in the project", "--dir "+f.Dir, "a relative path, like pkg/generated")
	}
	for _, p := range f.Plurals {
		if !pluralForm.MatchString(p) {
			return unusableValue("a plural is given as Kind:Plural", "--plural "+p, "both as Go types are called, like Fish:Fish")
		}
	}
	for _, e := range f.Externals {
		if !externalForm.MatchString(e) {
			return unusableValue("apply configurations are given as package.Type@package", "--apply-configuration "+e,
				"like k8s.io/api/core/v1.Pod@k8s.io/client-go/applyconfigurations/core/v1")
		}
	}
	return nil
}

func unusableValue(what, where, hint string) error {
	return &report.Error{What: what, Where: where, Hint: hint, Next: "slipway generate clients --help", Code: usageCode}
}

// keepFacts writes the facts to PROJECT if they are others than those there.
func (inv *invocation) keepFacts(root string, file *project.Project, facts clientFacts) error {
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
	inv.handler.Handle(report.File{Path: project.FileName, Action: report.Updated, Why: "slipway generate keeps the clients up to date"})
	return nil
}

// rewrite replaces a file of the project, which may be no link that leads out of it.
func rewrite(root, name string, content []byte) error {
	folder, err := confine.Open(root)
	if err != nil {
		return err
	}
	return errors.Join(folder.WriteFile(name, content), folder.Close())
}

// use is the generator's run.
func (f clientFacts) use(root string) generate.Use {
	options := []string{"dir=" + quoted(f.Dir)}
	for _, o := range []struct {
		name   string
		values []string
	}{{"groups", f.Groups}, {"pluralExceptions", f.Plurals}, {"externals", f.Externals}} {
		var list []string
		for _, v := range o.values {
			list = append(list, quoted(v))
		}
		if len(list) > 0 {
			options = append(options, o.name+"={"+strings.Join(list, ",")+"}")
		}
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(regenerate.Boilerplate))); err == nil {
		options = append(options, "headerFile="+quoted(regenerate.Boilerplate))
	}
	return generate.Use{Name: "clients", Options: strings.Join(options, ",")}
}

// quoted is a value as an option has it.
func quoted(value string) string { return fmt.Sprintf("%q", value) }

// clientsUse is the run that keeps the project's clients up to date, if it has any.
func clientsUse(file *project.Project, root string) ([]generate.Use, error) {
	var facts clientFacts
	found, err := file.Plugin(clientsKey, &facts)
	if !found || err != nil {
		return nil, err
	}
	return []generate.Use{facts.use(root)}, nil
}
