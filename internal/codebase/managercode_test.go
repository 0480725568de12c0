package codebase_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// inFunction is a project with code in a function.
func inFunction(t *testing.T, code string) *codebase.Codebase {
	t.Helper()
	return read(unpacked(t, "-- go.mod --\nmodule m\n-- a.go --\npackage a\n\nfunc f() {\n"+code+"\n}\n"))
}

// TestHasFlag: a flag is one that code defines, whatever the library; its name in other places is none.
func TestHasFlag(t *testing.T) {
	for code, want := range map[string]bool{
		`flag.StringVar(&a, "some-flag", "0", "")`:                   true,
		`_ = fs.Duration("some-flag", 0, "")`:                        true,
		`cmd.Flags().StringSliceVarP(&a, "some-flag", "s", nil, "")`: true,
		"fs.Var(a, `some-flag`, ``)":                                 true,
		`app.Flag("some-flag", "help").String()`:                     true,
		`fs.StringVar(&a, 0, "some-flag", "")`:                       true,
		`_ = cli.StringFlag{Name: "some-flag"}`:                      true,
		"var _ struct{ A string `long:\"some-flag\"` }":              true,
		`const name = "some-flag"`:                                   true, // of a call elsewhere
		`log.Info("some-flag")`:                                      false,
		`viper.SetDefault("some-flag", 1)`:                           false,
		`cmd.Flags().Lookup("some-flag").Value.Set("1")`:             false,
		`// flag.StringVar(&a, "some-flag", "0", "")`:                false,
		`flag.StringVar(&a, "some-flag-too", "0", "")`:               false,
		"_ = `\nflag.StringVar(&a, \"some-flag\", \"0\", \"\")\n`":   false,
	} {
		if got, err := inFunction(t, code).HasFlag("some-flag"); got != want || err != nil {
			t.Errorf("%s: %v, %v", code, got, err)
		}
	}
}

func TestSetsField(t *testing.T) {
	for code, want := range map[string]bool{
		`_ = o{SecureServing: true}`:                         true,
		`_ = o{SecureServing: secure}`:                       true,
		`flag.BoolVar(&o.SecureServing, "secure", true, "")`: true,
		`a.b.SecureServing = secure`:                         true,
		`_ = o{SecureServing: false}`:                        false,
		`a.SecureServing = false`:                            false,
		`if a.SecureServing { }`:                             false,
		`// SecureServing: true`:                             false,
	} {
		if got, err := inFunction(t, code).SetsField("SecureServing"); got != want || err != nil {
			t.Errorf("%s: %v, %v", code, got, err)
		}
	}
}

func TestReadsVariable(t *testing.T) {
	for code, want := range map[string]bool{
		`os.Getenv("NAME")`:     true,
		`const name = "NAME"`:   true,
		`name := "NAME"`:        true,
		`// os.Getenv("NAME")`:  false,
		`os.Getenv("NAME_TOO")`: false,
	} {
		if got := codebase.ReadsVariable([]byte("package a\n\nfunc f() {\n"+code+"\n}\n"), "NAME"); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}
