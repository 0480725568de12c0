package arguments

import (
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/report"
)

// WithoutFlags takes controller-gen's flags out of the arguments of a call. A call for help or the version has none
// left, since it generates nothing. Tags are those of the packages that are read; nil is the usual one.
func WithoutFlags(arguments []string) (rest, tags []string, err error) {
	flags := pflag.NewFlagSet("controller-gen", pflag.ContinueOnError)
	flags.Usage = func() {}
	help, which := flags.CountP("detailed-help", "h", ""), flags.CountP("which-markers", "w", "")
	long, version := flags.Bool("help", false, ""), flags.Bool("version", false, "")
	flags.StringSliceVar(&tags, "load-build-tags", nil, "")
	if err := flags.Parse(arguments); err != nil {
		return nil, nil, &report.Error{What: "cannot parse this call of controller-gen", Err: err, Hint: "controller-gen --help lists its flags"}
	}
	if *help > 0 || *which > 0 || *long || *version {
		return nil, nil, nil
	}
	return flags.Args(), tags, nil
}
