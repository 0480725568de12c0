package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/project"
)

func (inv *invocation) createCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Add a kind, a version or webhooks to the project",
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd, inv.createAPICommand(), inv.createVersionCommand(), inv.createWebhookCommand())
	return cmd
}

// apiFlags are the flags of `slipway create api`.
type apiFlags struct {
	projects.API
	plugins []string
}

func (inv *invocation) createAPICommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Add a kind: its types, CRD, controller, roles, sample and tests",
		Long: `Api adds a kind to the project: its Go types, a controller that reconciles its objects and
a test of the controller. It adds roles for users, a sample, and the lines in cmd/main.go and
config/ that wire them into the operator. Then it generates the CRD and other files from the
code, and the project builds. If the Makefile edits generated files afterwards, only the methods of the types are made;
run the make command that it names.

It prompts for --resource and --controller if they are missing. On a terminal it also prompts for the
group, the version and the kind. Existing files are kept; a second run adds only what is missing. Lines are inserted at the markers
+kubebuilder:scaffold:... If a marker is missing, they are inserted beside similar code, such as other calls of
AddToScheme. If there is none either, the command prints the lines with the place that lacks them.
--skip-wiring leaves all of them to you.

With --resource=false it adds only a controller: for a kind of the project, of Kubernetes
itself (--group apps, --group core) or of another module (--external-api-path).
--controller-name adds another controller for a kind.

With --ssa it generates typed apply configurations for the kind, and the controller writes
the status with them. With --image the controller runs that image in a Deployment for each
object, and reports in the status whether its pods run.`,
		Example: `  slipway create api --group batch --version v1 --kind CronJob --resource --controller
  slipway create api --group batch --version v2 --kind CronJob --resource --controller=false
  slipway create api --group batch --version v1 --kind CronJob --resource=false --controller --controller-name nightly-report
  slipway create api --group apps --version v1 --kind Deployment --resource=false --controller
  slipway create api --group cache --version v1 --kind Memcached --image memcached:1.6-alpine --image-container-port 11211`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.createAPI(cmd, f) },
	}
	flags := cmd.Flags()
	bindKind(flags, &f.Group, &f.Version, &f.Kind)
	flags.StringVar(&f.Plural, "plural", "", "`name` of the resource, if English rules give a wrong one")
	flags.BoolVar(&f.Resource, "resource", true, "create the types, CRD, roles and sample (default: prompt)")
	flags.BoolVar(&f.Controller, "controller", true, "create a controller (default: prompt)")
	flags.Lookup("resource").DefValue, flags.Lookup("controller").DefValue = "", ""
	flags.BoolVar(&f.Namespaced, "namespaced", true, "objects live in namespaces, not in the cluster as a whole")
	flags.StringVar(&f.ControllerName, "controller-name", "", "`name` of another controller of the kind, such as nightly-report")
	flags.BoolVar(&f.SSA, "ssa", false, "generate typed apply configurations, and use them in the controller")
	bindExternal(flags, &f.External.Path, &f.External.Domain, &f.External.Module)
	f.bindImage(flags)
	bindSkipWiring(flags, &f.SkipWiring)
	bindManager(flags, &f.Manager)
	bindForce(flags)
	bindChange(flags, &f.Change)
	inv.acceptProjectVersion(cmd)
	return inv.accept(cmd, oldAPIFlags)
}

// createAPI is the run of `slipway create api`.
func (inv *invocation) createAPI(cmd *cobra.Command, f apiFlags) error {
	session := inv.session()
	if _, err := session.ProjectRoot(); err != nil {
		return err
	}
	if err := inv.askKind(cmd, &f.Group, &f.Version, &f.Kind, project.Resource{}); err != nil {
		return err
	}
	// Mistakes in flags are told before more questions are asked.
	if err := errors.Join(inv.checkPlugins(&f), f.Check()); err != nil {
		return err
	}
	if err := inv.askWhatToCreate(cmd, &f); err != nil {
		return err
	}
	err := done(projects.CreateAPI(cmd.Context(), session, f.API))
	return unchecked(cmd, err, "--resource="+strconv.FormatBool(f.Resource), "--controller="+strconv.FormatBool(f.Controller))
}

// askWhatToCreate asks for what flags do not say. The types of another module are not asked
// for, and those that run an image have both.
func (inv *invocation) askWhatToCreate(cmd *cobra.Command, f *apiFlags) error {
	for _, q := range []struct {
		flag, question string
		answer         *bool
		known, is      bool // without a question
	}{
		{"resource", "Create Resource [y/n]", &f.Resource, f.External.Path != "" || f.Image.Name != "", f.External.Path == ""},
		{"controller", "Create Controller [y/n]", &f.Controller, f.Image.Name != "" || f.ControllerName != "", true},
	} {
		if cmd.Flags().Changed(q.flag) {
			continue
		}
		if q.known {
			*q.answer = q.is
			continue
		}
		var err error
		if *q.answer, err = inv.ask(cmd.Context(), q.question, "--"+q.flag); err != nil {
			return err
		}
	}
	return nil
}
