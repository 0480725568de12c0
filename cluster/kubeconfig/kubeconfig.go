// Package kubeconfig writes the file with which clients reach a cluster.
package kubeconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/cluster/atomicfile"
	"github.com/slipway-dev/slipway/cluster/pki"
)

// The file's form, as far as it is used; the order of keys is that of kubectl.
type (
	config struct {
		APIVersion     string         `json:"apiVersion"`
		Clusters       []namedCluster `json:"clusters"`
		Contexts       []namedContext `json:"contexts"`
		CurrentContext string         `json:"current-context"`
		Kind           string         `json:"kind"`
		Users          []namedUser    `json:"users"`
	}
	namedCluster struct {
		Cluster struct {
			CA     string `json:"certificate-authority-data"`
			Server string `json:"server"`
		} `json:"cluster"`
		Name string `json:"name"`
	}
	namedContext struct {
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
		Name string `json:"name"`
	}
	namedUser struct {
		Name string `json:"name"`
		User struct {
			Certificate string `json:"client-certificate-data"`
			Key         string `json:"client-key-data"`
		} `json:"user"`
	}
)

// Write replaces the file at path (0600) by one that reaches server as its administrator: readers see the old file or
// the new one. A power loss ends the cluster, too. Cluster, user and context are called slipway-NAME.
func Write(path, name, server string, keys pki.Files) error {
	data, err := encode("slipway-"+name, server, keys)
	if err != nil {
		return fmt.Errorf("make the kubeconfig: %w", err)
	}
	if err := atomicfile.Write(path, data, false); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}

func encode(name, server string, keys pki.Files) ([]byte, error) {
	var errs []error
	data := func(file string) string {
		b, err := os.ReadFile(file)
		errs = append(errs, err)
		return base64.StdEncoding.EncodeToString(b)
	}
	cluster := namedCluster{Name: name}
	cluster.Cluster.CA, cluster.Cluster.Server = data(keys.CA), server
	context := namedContext{Name: name}
	context.Context.Cluster, context.Context.User = name, name
	user := namedUser{Name: name}
	user.User.Certificate, user.User.Key = data(keys.Admin), data(keys.AdminKey)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return yaml.Marshal(config{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: []namedCluster{cluster}, Contexts: []namedContext{context}, Users: []namedUser{user},
	})
}
