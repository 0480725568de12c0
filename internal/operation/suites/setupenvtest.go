package suites

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/setupenvtest"
)

// Forms in which to report a folder of envtest's programs.
const (
	OverviewForm = "overview"
	PathForm     = "path"
	EnvForm      = "env"
)

// EnvtestVersion is the Kubernetes version that slipway provides for envtest.
const EnvtestVersion = setupenvtest.Kubernetes

// EnvtestHost returns the default platform of folders.
func EnvtestHost() setupenvtest.Platform { return setupenvtest.Host() }

// Envtest is a request to the replacement of setup-envtest. Operations set the request's selector from Version, and its
// assets from the environment.
type Envtest struct {
	setupenvtest.Request
	Version string // Kubernetes version such as 1.37.x; "" means the latest
	Dir     string // folder of all versions; "" means setup-envtest's default
	UseEnv  bool   // use the folder in KUBEBUILDER_ASSETS, if set
	Form    string // how to report a folder
}

// UseEnvtest reports the folder of a version, after creating it if need be.
func UseEnvtest(ctx context.Context, s *operation.Session, e Envtest) (setupenvtest.Used, error) {
	tool, err := envtest(s, &e)
	if err != nil {
		return setupenvtest.Used{}, err
	}
	used, err := tool.Use(ctx, e.Request)
	if err != nil {
		return setupenvtest.Used{}, err
	}
	if !e.Installed {
		if err := provideForModule(ctx, s, anyFile); err != nil {
			return setupenvtest.Used{}, err
		}
	}
	reportEnvtest(s, used, e.Form)
	return used, nil
}

// ListEnvtest reports the installed and the available versions.
func ListEnvtest(s *operation.Session, e Envtest) ([]setupenvtest.Listed, error) {
	tool, err := envtest(s, &e)
	if err != nil {
		return nil, err
	}
	list, err := tool.List(e.Request)
	if err != nil {
		return nil, err
	}
	s.Handler.Handle(report.Result{Text: listed(list), Value: list})
	return list, nil
}

// CleanupEnvtest removes versions and returns them, also if it fails to remove others.
func CleanupEnvtest(s *operation.Session, e Envtest) ([]setupenvtest.Item, error) {
	tool, err := envtest(s, &e)
	if err != nil {
		return nil, err
	}
	removed, err := tool.Cleanup(e.Request)
	lines := make([]string, len(removed))
	for i, item := range removed {
		lines[i] = "removed " + item.String()
	}
	s.Handler.Handle(report.Result{Text: strings.Join(lines, "\n"), Value: removed})
	return removed, err
}

// SideloadEnvtest installs a version from an archive on standard input.
func SideloadEnvtest(s *operation.Session, e Envtest) (setupenvtest.Used, error) {
	tool, err := envtest(s, &e)
	if err != nil {
		return setupenvtest.Used{}, err
	}
	used, err := tool.Sideload(e.Request, s.Stdin)
	if err != nil {
		return setupenvtest.Used{}, err
	}
	reportEnvtest(s, used, e.Form)
	return used, nil
}

// envtest returns the tool and completes the request.
func envtest(s *operation.Session, e *Envtest) (tool setupenvtest.Tool, err error) {
	if e.UseEnv {
		e.Assets = s.Getenv("KUBEBUILDER_ASSETS")
	}
	if e.Selector, err = setupenvtest.ParseSelector(e.Version); err != nil {
		return tool, err
	}
	dir := e.Dir
	if dir == "" {
		if dir, err = setupenvtest.DefaultDir(s.Getenv); err != nil {
			return tool, err
		}
	}
	return setupenvtest.Tool{Store: setupenvtest.Store{Dir: dir}, Programs: clusterctl.New(s.Getenv, s.Handler).Assets, Handler: s.Handler}, nil
}

// reportEnvtest reports a folder in the requested form.
func reportEnvtest(s *operation.Session, u setupenvtest.Used, form string) {
	r := report.Result{Value: u}
	switch form {
	case PathForm:
		r.Text, r.Bare = u.Path, true
	case EnvForm:
		r.Text = "export KUBEBUILDER_ASSETS='" + strings.ReplaceAll(u.Path, "'", `'"'"'`) + "'"
	default:
		r.Text = fmt.Sprintf("Version: %s\nOS/Arch: %s/%s\nPath: %s", u.Version, u.OS, u.Arch, u.Path)
	}
	s.Handler.Handle(r)
}

// listed formats versions in columns.
func listed(list []setupenvtest.Listed) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, l := range list {
		state := "(available)"
		if l.Installed {
			state = "(installed)"
		}
		fmt.Fprintf(w, "%s\tv%s\t%s/%s\n", state, l.Version, l.OS, l.Arch)
	}
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}
