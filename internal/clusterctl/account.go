package clusterctl

// RegistryUser is the name that goes with the token of [Control.RegistryToken].
const RegistryUser = "slipway"

// RegistryToken returns the token with which others than the user who runs the cluster push into its registry, and on
// systems that do not report who connects that user too; empty if the cluster has none.
func (c *Control) RegistryToken(name string) (string, error) {
	cl, err := c.cluster(name)
	if err != nil {
		return "", err
	}
	return cl.RegistryToken()
}
