package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imageLoginCommand() *cobra.Command {
	var user, cluster string
	var stdin bool
	cmd := &cobra.Command{
		Use:   "login [REGISTRY]",
		Short: "Log in to a registry and keep the account",
		Long: `Login checks a user name and a password or token against a registry, and keeps them where docker does: in
~/.docker/config.json, or the folder in DOCKER_CONFIG, through the credential helper that is configured there. Without
a helper the file holds the password as plain text, readable by its owner; login warns of that.

On a terminal login prompts for missing values. No flag takes the password, since other users of the machine can see
arguments.

With --cluster it logs in to the registry of an embedded cluster, with the cluster's own account. On Linux only container
engines of other users need that: the user who started the cluster, and root, push without an account.`,
		Example: `  slipway image login registry.example.com
  slipway image login --cluster
  echo $TOKEN | slipway image login ghcr.io --username octocat --password-stdin`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cluster != "" && len(args) == 0 {
				return nil
			}
			return oneRegistry(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cluster != "" && len(args) == 1: // --cluster NAME
				return done(images.LoginToCluster(cmd.Context(), inv.session(), args[0]))
			case cluster != "":
				return done(images.LoginToCluster(cmd.Context(), inv.session(), cluster))
			}
			name, password, err := inv.account(cmd, user, stdin)
			if err != nil {
				return err
			}
			return done(images.Login(cmd.Context(), inv.session(), args[0], name, password))
		},
	}
	cmd.Flags().StringVarP(&user, "username", "u", "", "the user's `name`")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password or token from stdin")
	cmd.Flags().StringVar(&cluster, "cluster", "", "log in to the registry of the cluster of that `name` (without a name: the default cluster)")
	cmd.Flags().Lookup("cluster").NoOptDefVal = clusters.DefaultCluster
	return cmd
}

// account is the user and the password, from flags, stdin and the terminal.
func (inv *invocation) account(cmd *cobra.Command, user string, stdin bool) (name, password string, err error) {
	if err := inv.askMissing(cmd, question{flag: "username", text: "User", answer: &user}); err != nil {
		return "", "", err
	}
	if user == "" {
		return "", "", &report.Error{What: "the user name is missing", Where: "--username", Next: cmd.CommandPath() + " --help"}
	}
	if stdin {
		text, err := io.ReadAll(inv.Stdin)
		password = strings.TrimRight(string(text), "\r\n")
		if err == nil && password == "" {
			err = &report.Error{What: "stdin holds no password", Where: "--password-stdin"}
		}
		return user, password, err
	}
	password, err = inv.askSecret(cmd.Context(), "Password or token")
	if err == nil && password == "" {
		err = &report.Error{What: "the password or token is missing", Hint: "pass it on stdin; on a terminal login prompts for it", Next: "slipway image login --password-stdin", Code: report.UsageCode}
	}
	return user, password, err
}

func (inv *invocation) imageLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "logout REGISTRY",
		Short:   "Log out of a registry and delete the account",
		Long:    `Logout deletes the account of a registry that login or docker kept. A missing account is not an error.`,
		Example: `  slipway image logout registry.example.com`,
		Args:    oneRegistry,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.Logout(cmd.Context(), inv.session(), args[0]))
		},
	}
}

// oneRegistry wants the address of one registry.
func oneRegistry(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes the address of one registry", Hint: "use an address like registry.example.com or ghcr.io",
		Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}
