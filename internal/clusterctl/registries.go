package clusterctl

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// registriesVariable names registries that real nodes may pull from although their addresses are this machine's or
// private ones. It is an environment variable and no flag: which network the machine is in is the same for all of its
// clusters, also for those that another verb starts.
const registriesVariable = "SLIPWAY_REGISTRIES"

// registries are those that the variable names, each host or host:port, with commas between them.
func (c *Control) registries() ([]string, error) {
	var all []string
	for name := range strings.SplitSeq(c.getenv(registriesVariable), ",") {
		name = strings.TrimSpace(name)
		if strings.ContainsAny(name, "/ \t*@") {
			return nil, &report.Error{
				What: "invalid registry, not HOST or HOST:PORT: " + name, Where: registriesVariable,
				Hint: "list registries of this machine or a private network that real nodes may pull from, separated by commas",
				Next: "export " + registriesVariable + "=registry.example.com:5000,localhost:5000", Code: report.UsageCode,
			}
		}
		if name != "" {
			all = append(all, name)
		}
	}
	return all, nil
}
