package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/suites"
	"github.com/slipway-dev/slipway/internal/report"
)

// setupEnvtest is one run of `slipway setup-envtest`.
type setupEnvtest struct {
	*invocation
	suites.Envtest
	print oneOf
	level logLevel
}

// setupEnvtestCommand is `slipway setup-envtest`, with the flags of the tool whose place it takes.
func (inv *invocation) setupEnvtestCommand() *cobra.Command {
	s := &setupEnvtest{invocation: inv, print: oneOf{value: suites.OverviewForm, of: []string{suites.OverviewForm, suites.PathForm, suites.EnvForm}}}
	s.level.verbose = &inv.verbose
	cmd := &cobra.Command{
		Use:   "setup-envtest",
		Short: "Set up etcd, kube-apiserver and kubectl for envtest",
		Long: `Setup-envtest keeps folders of the programs that controller-runtime's envtest starts. It replaces
the tool of that name, with its commands, flags and folders, and needs no network:
etcd, kube-apiserver and kubectl are slipway's own cluster program, which is Kubernetes
` + suites.EnvtestVersion + `. For the three minor versions before it, setup-envtest warns and uses
the embedded version. It uses existing folders, downloaded or sideloaded, as they are.

A link named setup-envtest in a project's bin folder runs this command for the project's Makefile:

  ln -s "$(which slipway)" bin/setup-envtest

Versions:
  1.37.1                  this one
  1.37, 1.37.x, 1.37.*    any patch of 1.37
  ~1.37.1                 a patch of 1.37 that is not older
  <1.37, <=1.37.1         an older one
  1.37.x!                 the newest available, not the newest installed
  latest                  the newest version (the default)
  latest-on-disk          the newest installed version

Exit codes: 0 done, 1 an invalid version, 2 all other errors.

Environment:
  KUBEBUILDER_ASSETS       the folder that --use-env takes
  ENVTEST_USE_ENV          any value sets --use-env
  ENVTEST_INSTALLED_ONLY   any value sets --installed-only
  SLIPWAY_CLUSTER          path of the cluster program; see slipway cluster --help`,
		Example: `  export KUBEBUILDER_ASSETS="$(slipway setup-envtest use -p path)"
  source <(slipway setup-envtest use -p env 1.37.x)
  slipway setup-envtest list -i`,
		Args: needSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	s.flags(cmd)
	addCommands(cmd, s.useCommand(), s.listCommand(), s.cleanupCommand(), s.sideloadCommand(), s.versionCommand())
	return cmd
}

// needSubcommand refuses a missing or unknown command.
func needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &report.Error{What: cmd.CommandPath() + " needs a command", Hint: "use, list, cleanup, sideload or version",
			Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
	}
	return noSubcommand(cmd, args)
}

// flags declares the flags of all its commands. They may stand before or after the command's name.
func (s *setupEnvtest) flags(cmd *cobra.Command) {
	host := suites.EnvtestHost()
	flags := cmd.PersistentFlags()
	flags.SortFlags = false
	flags.VarP(&s.print, "print", "p", "form of the output of use and sideload: overview, path or env")
	flags.StringVar(&s.Dir, "bin-dir", "", "`folder` of the versions (default: kubebuilder-envtest in the user's data folder)")
	flags.BoolVarP(&s.Installed, "installed-only", "i", s.Getenv("ENVTEST_INSTALLED_ONLY") != "", "use only installed versions")
	flags.BoolVar(&s.Exact, "exact", false, "fail instead of using the embedded version for another one")
	flags.BoolVar(&s.Force, "force", false, "replace the installed version with the embedded one")
	flags.BoolVar(&s.UseEnv, "use-env", s.Getenv("ENVTEST_USE_ENV") != "", "use the folder in KUBEBUILDER_ASSETS, if there is one")
	flags.StringVar(&s.Platform.OS, "os", host.OS, "operating `system`; * for all, with list and cleanup")
	flags.StringVar(&s.Platform.Arch, "arch", host.Arch, "`architecture`; * for all, with list and cleanup")
	flags.VarP(&s.level, "verbose", "v", "`level` of messages: debug, info, warn, error") // -v, as the tool has it
	flags.Var(&s.level, "v", "")
	// What concerns downloads only.
	for _, name := range []string{"index", "remote-bucket", "remote-server"} {
		flags.String(name, "", "accepted and ignored: nothing is downloaded")
	}
	for _, name := range []string{"verify", "use-deprecated-gcs"} {
		flags.Bool(name, name == "verify", "accepted and ignored: nothing is downloaded")
	}
	for _, name := range []string{"v", "remote-bucket", "remote-server", "use-deprecated-gcs", "index", "verify"} {
		flags.Lookup(name).Hidden = true
	}
}

// asked is what flags and arguments ask for.
func (s *setupEnvtest) asked(args []string) suites.Envtest {
	e := s.Envtest
	e.Version, e.Form = strings.Join(args, ""), s.print.value
	return e
}

// oneVersion refuses more than one argument.
func oneVersion(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes one version", Where: args[1],
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}

func (s *setupEnvtest) useCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use [VERSION]",
		Short: "Print the folder of a version; set it up if it is missing",
		Long: `Use finds an installed version, or sets up the embedded one, and prints its folder. --print chooses the form:
overview for people, path for $(…), env for a shell to source. A second run changes nothing.
If the cluster program is not compiled yet, use compiles it, which takes minutes.`,
		Example: `  export KUBEBUILDER_ASSETS="$(slipway setup-envtest use 1.37.x --bin-dir bin -p path)"`,
		Args:    oneVersion,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(suites.UseEnvtest(cmd.Context(), s.session(), s.asked(args)))
		},
	}
}

func (s *setupEnvtest) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list [VERSION]",
		Short:   "List installed and available versions",
		Long:    `List prints the installed versions and those that can be set up, the newest first.`,
		Example: `  slipway setup-envtest list -i --os '*' --arch '*'`,
		Args:    oneVersion,
		RunE: func(_ *cobra.Command, args []string) error {
			return done(suites.ListEnvtest(s.session(), s.asked(args)))
		},
	}
}

func (s *setupEnvtest) cleanupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cleanup [VERSION]",
		Short: "Remove versions from the folder",
		Long: `Cleanup removes the versions that match; without a version, all versions of this platform. The cluster program
stays, since the folders only link to it.`,
		Example: `  slipway setup-envtest cleanup '<1.36' --os '*' --arch '*'`,
		Args:    oneVersion,
		RunE: func(_ *cobra.Command, args []string) error {
			return done(suites.CleanupEnvtest(s.session(), s.asked(args)))
		},
	}
}

func (s *setupEnvtest) sideloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sideload VERSION",
		Short: "Install a version from an archive on stdin",
		Long: `Sideload unpacks a .tar.gz archive of programs from stdin. It replaces the installed version and prints the folder
as use does. If the archive is damaged, the installed version stays.`,
		Example: `  slipway setup-envtest sideload 1.35.0 < envtest-v1.35.0-linux-amd64.tar.gz`,
		Args:    oneVersion,
		RunE: func(_ *cobra.Command, args []string) error {
			return done(suites.SideloadEnvtest(s.session(), s.asked(args)))
		},
	}
}

func (s *setupEnvtest) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this tool",
		Args:  oneVersion,
		RunE: func(*cobra.Command, []string) error {
			operation.ReportToolVersion(s.session(), "setup-envtest version: ")
			return nil
		},
	}
}

// oneOf is the value of a flag that takes one of a few words.
type oneOf struct {
	value string
	of    []string
}

func (o *oneOf) String() string { return o.value }

// Type is what help shows for the value.
func (o *oneOf) Type() string { return "form" }

// Set takes a word.
func (o *oneOf) Set(word string) error {
	if !slices.Contains(o.of, word) {
		return fmt.Errorf("%q is none of %s", word, strings.Join(o.of, ", "))
	}
	o.value = word
	return nil
}

// logLevel is the value of -v: a word as in the tool whose place setup-envtest takes.
type logLevel struct {
	word    string
	verbose *bool // whether the word asks for more than warnings
}

func (l *logLevel) String() string { return cmp.Or(l.word, "warn") }

// Type is what help shows for the value.
func (l *logLevel) Type() string { return "level" }

// Set takes a word.
func (l *logLevel) Set(word string) error {
	l.word = strings.ToLower(word)
	if !slices.Contains([]string{"debug", "info", "warn", "error", "dpanic", "panic", "fatal"}, l.word) {
		return fmt.Errorf("%q is none of debug, info, warn, error", word)
	}
	*l.verbose = l.word == "debug" || l.word == "info"
	return nil
}
