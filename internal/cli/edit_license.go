package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/sourcedate"
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
		var err error
		if license.Year, err = inv.year(); err != nil {
			return nil, err
		}
		return []scaffold.Edit{scaffold.Relicense(license)}, nil
	}
}

// year is that of the copyright: SOURCE_DATE_EPOCH's, so that a project can be made again, else today's.
func (inv *invocation) year() (int, error) {
	when, set, err := sourcedate.Read(inv.Getenv)
	if !set {
		when = time.Now()
	}
	return when.Year(), err
}
