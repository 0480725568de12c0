package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
)

const imageBuildLong = `Build compiles the project's manager, packs it into an image and keeps the image under the name in --tag.

Build reads from the Dockerfile how to compile and start the manager. It takes each go build, also in a recipe of the
Makefile, and the files of the project that the Dockerfile copies. It takes WORKDIR, USER, ENTRYPOINT, CMD, ENV and
LABEL, too. Build fails if the image would lack what another line does. With --allow-incomplete it lists such lines
and goes on. PACKAGE names another main package, or by an absolute path the folder of another project.

In a folder without a Go module, build puts files on top of the image that the Dockerfile names in FROM: an operator in
another language. PACKAGE names another such folder. Build runs no commands, so it refuses RUN there.

With --base build puts the program on top of an image from a registry. By default the image contains only the programs
and files, CA certificates, the users root and nonroot, time zones and /tmp.

The same sources make the same image. Its time is SOURCE_DATE_EPOCH, or that of the commit if no file has changed since.
With several platforms the image is an index with one image for each. A bill of materials (SPDX) of each
is pushed with it; 'slipway image inspect --sbom' shows it.`

func (inv *invocation) imageBuildCommand() *cobra.Command {
	var b images.Build
	var arguments, labels []string
	cmd := &cobra.Command{
		Use:   "build -t NAME [PACKAGE]",
		Short: "Build an image of the project's manager",
		Long:  imageBuildLong,
		Example: `  slipway image build -t registry.example.com/operator:v1
  slipway image build -t operator:dev --platform linux/amd64,linux/arm64
  slipway image build -t operator:dev -o operator.tar`,
		Args: onePackage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.Tag == "" {
				return missingFlag(cmd, "tag", "--tag operator:v1")
			}
			var err error
			if b.BuildArgs, err = keyed("--build-arg", arguments); err != nil {
				return err
			}
			if b.Labels, err = keyed("--label", labels); err != nil {
				return err
			}
			if len(args) > 0 {
				b.Package = args[0]
			}
			return done(images.BuildImage(cmd.Context(), inv.session(), b))
		},
	}
	flags := cmd.Flags()
	bindManager(flags, &b.Package)
	flags.StringVarP(&b.Tag, "tag", "t", "", "`name` of the image, like registry.example.com/operator:v1")
	flags.StringSliceVar(&b.Platforms, "platform", []string{"linux/" + runtime.GOARCH}, "`platforms` to build for, like linux/amd64,linux/arm64; darwin/arm64 is for plain nodes on a Mac")
	flags.StringVar(&b.Base, "base", "", "`image` to put the program on top of")
	bindMirrors(cmd, &b.Mirrors)
	flags.StringArrayVar(&arguments, "build-arg", nil, "value for an ARG of the Dockerfile or a variable of the Makefile, `NAME=value`; repeatable")
	flags.StringArrayVar(&labels, "label", nil, "label of the image, `NAME=value`; repeatable")
	flags.StringVarP(&b.Dockerfile, "file", "f", "", "`path` of the Dockerfile; default: that of the module")
	flags.StringVar(&b.Target, "target", "", "`stage` of the Dockerfile that becomes the image; default: the last one")
	flags.BoolVar(&b.AllowIncomplete, "allow-incomplete", false, "build the image also if it lacks what the Dockerfile has")
	flags.StringVarP(&b.File, "archive", "o", "", "also save the image into this `archive`")
	flags.StringVar(&b.Format, "format", "", formatUsage)
	return cmd
}

// onePackage refuses more than one argument.
func onePackage(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes one main package", Where: args[1], Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}
