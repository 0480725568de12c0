package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/projects"
)

// bindPreview declares the flags of every verb that changes the project's own files.
func bindPreview(flags *pflag.FlagSet, p *operation.Preview) {
	flags.BoolVar(&p.DryRun, "dry-run", false, "list the changes to files, and write nothing")
	flags.BoolVar(&p.Diff, "diff", false, "show the changes to files as a diff, and write nothing")
}

// bindChange declares the flags of changes from which generated files follow.
func bindChange(flags *pflag.FlagSet, c *projects.Change) {
	flags.BoolVar(&c.Generate, "make", true, "generate files from the code afterwards")
	bindNoTypecheck(flags, &c.NoTypecheck)
	bindPreview(flags, &c.Preview)
}

// bindNoTypecheck declares the flag of verbs that change Go code.
func bindNoTypecheck(flags *pflag.FlagSet, unchecked *bool) {
	flags.BoolVar(unchecked, "no-typecheck", false, "do not check first whether the code still compiles")
}

// bindNoGenerate declares the flag of verbs that generate before they build.
func bindNoGenerate(flags *pflag.FlagSet, asTheyAre *bool) {
	flags.BoolVar(asTheyAre, "no-generate", false, "do not generate first; take the project's files as they are")
}

// bindForce declares a flag that has no effect.
func bindForce(flags *pflag.FlagSet) {
	flags.Bool("force", false, "accepted for scripts; has no effect, since existing files are kept")
}

// bindClusterPreview declares the flags of a verb that changes a cluster.
func bindClusterPreview(flags *pflag.FlagSet, p *operation.Preview) {
	flags.BoolVar(&p.DryRun, "dry-run", false, "list the changes to objects, by the server's dry run, and change none")
	flags.BoolVar(&p.Diff, "diff", false, "show the changes to objects as a diff, and change none")
}

// bindRemoval declares the flags of a verb that takes objects away; wait says what the timeout is for.
func bindRemoval(flags *pflag.FlagSet, r *delivery.Removal, timeout time.Duration, wait string) {
	bindTarget(flags, &r.From, timeout, wait)
	bindConsent(flags, &r.Yes)
	flags.BoolVar(&r.DryRun, "dry-run", false, "list the objects to delete, and delete none")
}

// bindTarget declares the flags that say which cluster is meant; wait says what the timeout is for.
func bindTarget(flags *pflag.FlagSet, t *delivery.Target, timeout time.Duration, wait string) {
	bindContext(flags, t)
	flags.DurationVar(&t.Timeout, "timeout", timeout, "how long to wait "+wait)
}

// bindContext declares the flags of a kubeconfig.
func bindContext(flags *pflag.FlagSet, t *delivery.Target) {
	flags.StringVar(&t.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; default: KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&t.Context, "context", "", "`context` of the kubeconfig; default: its current one")
}

// bindConsent declares the flag that answers for scripts.
func bindConsent(flags *pflag.FlagSet, yes *bool) {
	flags.BoolVar(yes, "yes", false, "do not ask before objects are deleted that others use or created, or that may hold data")
}

// bindPrune declares the flags that decide about objects which left the configuration.
func bindPrune(flags *pflag.FlagSet, data *bool) {
	bindConsent(flags, data)
	flags.Var((*prune)(data), "prune", "which objects that left the configuration to delete: `safe` for those that hold no data, data for all")
}

// A prune is the value of --prune: whether objects go that may hold data.
type prune bool

// The words of --prune.
const (
	pruneSafe = "safe"
	pruneData = "data"
)

func (p *prune) String() string {
	if *p {
		return pruneData
	}
	return pruneSafe
}

// Type is what help shows for the value.
func (p *prune) Type() string { return "which" }

// Set takes a word.
func (p *prune) Set(word string) error {
	if word != pruneSafe && word != pruneData {
		return fmt.Errorf("%q is none of %s, %s", word, pruneSafe, pruneData)
	}
	*p = word == pruneData
	return nil
}

// bindKind adds the flags that name a kind.
func bindKind(flags *pflag.FlagSet, group, version, kind *string) {
	flags.StringVar(group, "group", "", "API `group` without the project's domain")
	flags.StringVar(version, "version", "", "API `version`, such as v1 or v1alpha1")
	flags.StringVar(kind, "kind", "", "`kind` in CamelCase, such as CronJob")
}

// bindExternal adds the flags of kinds of other modules.
func bindExternal(flags *pflag.FlagSet, path, domain, module *string) {
	flags.StringVar(path, "external-api-path", "", "import `path` of the types of a kind of another module")
	flags.StringVar(domain, "external-api-domain", "", "`domain` of the group of a kind of another module")
	flags.StringVar(module, "external-api-module", "", "`module` of such a kind to require in go.mod, as example.com/module@v1.2.3")
}

// bindManager declares the flag that says which of several programs is the manager.
func bindManager(flags *pflag.FlagSet, pkg *string) {
	flags.StringVar(pkg, "manager", "", "`folder` of the manager's main package; default: what the Dockerfile builds")
}

// bindSkipWiring declares the flag of verbs that insert lines into the manager's code.
func bindSkipWiring(flags *pflag.FlagSet, skip *bool) {
	flags.BoolVar(skip, "skip-wiring", false, "do not wire the kind into the manager; print the lines to insert")
}
