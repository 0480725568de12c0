package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/project"
)

// initFlags are the flags of `slipway init`.
type initFlags struct {
	projects.Project
	skipGo  bool
	version string // --project-version
}

func (inv *invocation) initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Start a project in this folder",
		Long: `Init writes a project into this folder: a Go module with a manager, the configuration that
deploys it, and a Makefile with the usual targets. The project builds at once, without the
network if its modules are in Go's module cache.

The domain is the suffix of the API groups of your kinds: with the domain example.com, the
group batch becomes batch.example.com.

The module path comes from --repo or from the go.mod in the folder. On a terminal init prompts for
missing values. Init refuses a folder with another PROJECT, or with a Makefile or cmd/main.go but no
PROJECT. It keeps other files. A second run with the same flags adds only what is missing.

Environment:
  SOURCE_DATE_EPOCH   time whose year the license header names, in seconds since 1970 (default: now)`,
		Example: `  slipway init --domain example.com --repo github.com/me/my-operator
  go mod init example.com/my-operator && slipway init --domain example.com`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.init(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Domain, "domain", "my.domain", "`domain` that is the suffix of API groups")
	flags.StringVar(&f.Name, "project-name", "", "`name` of the project and prefix of its objects (default: the folder's name)")
	flags.StringVar(&f.Repo, "repo", "", "`path` of the Go module (default: that of go.mod)")
	flags.StringVar(&f.License.Owner, "owner", "", "`holder` of the copyright, for the license header")
	flags.StringVar(&f.License.Name, "license", "apache2", "license header of Go files: `apache2` or none")
	flags.StringVar(&f.LicenseFile, "license-file", "", "`file` with a license header to use instead")
	flags.BoolVar(&f.Fetch, "fetch-deps", true, "fetch the modules that the project needs")
	flags.BoolVar(&f.skipGo, "skip-go-version-check", false, "do not check the version of Go")
	flags.BoolVar(&f.MultiGroup, "multigroup", false, "use the layout for several API groups")
	flags.BoolVar(&f.Namespaced, "namespaced", false, "let the manager watch only its own namespace, with permissions only there")
	flags.StringVar(&f.version, "project-version", project.Version, "`version` of the PROJECT file")
	bindPreview(flags, &f.Preview)
	return inv.acceptPlugins(inv.accept(cmd, oldInitFlags), false)
}

// init is the run of `slipway init`.
func (inv *invocation) init(cmd *cobra.Command, f initFlags) error {
	if err := inv.acceptVersion(f.version); err != nil {
		return err
	}
	if err := inv.askProject(cmd, &f.Project); err != nil {
		return err
	}
	f.CheckGo = !f.skipGo
	return done(projects.Init(cmd.Context(), inv.session(), f.Project))
}
