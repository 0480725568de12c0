// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig reads kubeconfigs from Secrets. A kubeconfig may name programs to run and files to read, which is
// harmless in a user's home and is not in a manager's pod: all who may write a Secret could run programs there, and
// read the manager's own token. So a list says what is allowed, and everything else is refused, also what later
// versions of the format add.
package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// ErrRefused is why a kubeconfig that asks for what is not allowed is not used.
var ErrRefused = errors.New("the kubeconfig may not have")

// ErrInvalid is why a kubeconfig that lacks something is not used.
var ErrInvalid = errors.New("the kubeconfig cannot be used")

// What a kubeconfig may have, by the names in the file. Extensions are notes of other programs, which nothing here
// reads.
var (
	allowedOfCluster = []string{"server", "tls-server-name", "certificate-authority-data", "disable-compression", "extensions"}
	allowedOfUser    = []string{"token", "client-certificate-data", "client-key-data", "extensions"}
)

// Parse returns how the cluster of the current context is reached. Errors quote nothing of data except names of fields:
// they end up where more people can read them than Secrets.
func Parse(data []byte) (*rest.Config, error) {
	file, err := clientcmd.Load(data)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no kubeconfig", ErrInvalid)
	}
	cluster, user, err := current(file)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(check("clusters", cluster, allowedOfCluster), check("users", user, allowedOfUser)); err != nil {
		return nil, err
	}
	if err := complete(cluster, user); err != nil {
		return nil, err
	}
	return configOf(cluster, user)
}

// current returns the cluster and the user of the current context.
func current(file *api.Config) (*api.Cluster, *api.AuthInfo, error) {
	context := file.Contexts[file.CurrentContext]
	if context == nil {
		return nil, nil, fmt.Errorf("%w: its current-context is none of its contexts", ErrInvalid)
	}
	cluster, user := file.Clusters[context.Cluster], file.AuthInfos[context.AuthInfo]
	if cluster == nil || user == nil {
		return nil, nil, fmt.Errorf("%w: the cluster or the user of its current context is missing", ErrInvalid)
	}
	return cluster, user, nil
}

// check refuses fields that are not allowed.
func check(section string, entry any, allowed []string) error {
	raw, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("%w: its %s cannot be read", ErrInvalid, section)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("%w: its %s cannot be read", ErrInvalid, section)
	}
	for _, name := range allowed {
		delete(fields, name)
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("%w, in its %s: %s", ErrRefused, section, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

// complete checks that the server is reached in secret, and that there are credentials.
func complete(cluster *api.Cluster, user *api.AuthInfo) error {
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Scheme != "https" || server.Host == "" || server.User != nil {
		return fmt.Errorf("%w: its server is no https://HOST", ErrInvalid)
	}
	if user.Token == "" && (len(user.ClientCertificateData) == 0 || len(user.ClientKeyData) == 0) {
		return fmt.Errorf("%w: it has neither a token nor a client certificate with its key", ErrInvalid)
	}
	return nil
}

// configOf builds the connection from what is allowed. The loaders of client-go would fill gaps with the pod's own
// account.
func configOf(cluster *api.Cluster, user *api.AuthInfo) (*rest.Config, error) {
	config := &rest.Config{
		Host:               cluster.Server,
		BearerToken:        user.Token,
		DisableCompression: cluster.DisableCompression,
		QPS:                -1, // the member's own priority and fairness limits its clients
		// A transport with a function is not put into client-go's cache of transports, where it would outlive the
		// member.
		Proxy: http.ProxyFromEnvironment,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: cluster.TLSServerName,
			CAData:     cluster.CertificateAuthorityData,
			CertData:   user.ClientCertificateData,
			KeyData:    user.ClientKeyData,
		},
	}
	if _, err := rest.TLSConfigFor(config); err != nil {
		return nil, fmt.Errorf("%w: its certificates or its key cannot be read", ErrInvalid)
	}
	return config, nil
}
