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
			Cluster   string `json:"cluster"`
			Namespace string `json:"namespace,omitempty"`
			User      string `json:"user"`
		} `json:"context"`
		Name string `json:"name"`
	}
	namedUser struct {
		Name string `json:"name"`
		User struct {
			Certificate string `json:"client-certificate-data,omitempty"`
			Key         string `json:"client-key-data,omitempty"`
			Token       string `json:"token,omitempty"`
		} `json:"user"`
	}
)

// Write replaces the file at path (0600) by one that reaches server as its administrator: readers see the old file or
// the new one. A power loss ends the cluster, too. Cluster, user and context are called slipway-NAME.
func Write(path, name, server string, keys pki.Files) error {
	var user namedUser
	var errs [2]error
	user.User.Certificate, errs[0] = data(keys.Admin)
	user.User.Key, errs[1] = data(keys.AdminKey)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("make the kubeconfig: %w", err)
	}
	return write(path, name, server, "", keys, user)
}

// WriteToken is Write for the user whom a bearer token stands for. Clients work in namespace unless they choose another
// one; empty means default.
func WriteToken(path, name, server, namespace, token string, keys pki.Files) error {
	var user namedUser
	user.User.Token = token
	return write(path, name, server, namespace, keys, user)
}

func write(path, name, server, namespace string, keys pki.Files, user namedUser) error {
	text, err := encode("slipway-"+name, server, namespace, keys, user)
	if err != nil {
		return fmt.Errorf("make the kubeconfig: %w", err)
	}
	if err := atomicfile.Write(path, text, false); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}

func encode(name, server, namespace string, keys pki.Files, user namedUser) (_ []byte, err error) {
	cluster := namedCluster{Name: name}
	cluster.Cluster.Server = server
	if cluster.Cluster.CA, err = data(keys.CA); err != nil {
		return nil, err
	}
	context := namedContext{Name: name}
	context.Context.Cluster, context.Context.Namespace, context.Context.User = name, namespace, name
	user.Name = name
	return yaml.Marshal(config{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: []namedCluster{cluster}, Contexts: []namedContext{context}, Users: []namedUser{user},
	})
}

// data is the content of a file as a kubeconfig has it.
func data(file string) (string, error) {
	b, err := os.ReadFile(file)
	return base64.StdEncoding.EncodeToString(b), err
}
