package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// editLicense is --license, --license-file and --owner.
func (inv *invocation) editLicense(flags *pflag.FlagSet) func() ([]scaffold.Edit, error) {
	var license scaffold.License
	flags.StringVar(&license.Name, "license", "apache2", "license header of Go files to come: `apache2` or none")
	file := flags.String("license-file", "", "`file` with a license header to use instead")
	flags.StringVar(&license.Owner, "owner", "", "`holder` of the copyright, for the license header")
	return func() ([]scaffold.Edit, error) {
		if !flags.Changed("license") && !flags.Changed("license-file") && !flags.Changed("owner") {
			return nil, nil
		}
		if *file != "" {
			var err error
			if license.Text, err = inv.readLicense(*file); err != nil {
				return nil, err
			}
		}
		license.Year = time.Now().Year()
		return []scaffold.Edit{scaffold.Relicense(license)}, nil
	}
}
