package newwebhook

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// webhookServerPort is where controller-runtime serves webhooks unless the manager says otherwise.
const webhookServerPort = 9443

// documents are the objects of a file that can be read.
func documents(src []byte) (all []any) {
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var document any
		if decoder.Decode(&document) != nil {
			return all // the file cannot be read, or ends
		}
		all = append(all, document)
	}
}

// walk calls is with all values of an object and their keys until it is so. Patches that stand in a text are a part of
// the object.
func walk(object any, is func(key string, value any) bool) bool { return walkFrom("", object, is) }

func walkFrom(key string, value any, is func(string, any) bool) bool {
	if is(key, value) {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			if walkFrom(name, child, is) {
				return true
			}
		}
	case []any:
		for _, child := range value {
			if walkFrom(key, child, is) {
				return true
			}
		}
	case string:
		return key == "patch" && anyObject(documents([]byte(value)), is)
	}
	return false
}

func anyObject(objects []any, is func(string, any) bool) bool {
	for _, object := range objects {
		if _, text := object.(string); !text && walkFrom("", object, is) {
			return true
		}
	}
	return false
}

// servesWebhooks reports whether an object, or a patch of one, has pods serve webhooks: by the port, the certificate,
// or a flag for these.
func servesWebhooks(object any) bool {
	return walk(object, func(key string, value any) bool {
		switch value := value.(type) {
		case map[string]any:
			name, _ := value["name"].(string)
			port, exposed := value["containerPort"]
			return exposed && (port == webhookServerPort || strings.Contains(name, "webhook"))
		case string:
			return key == "mountPath" && (strings.Contains(value, "serving-cert") || strings.Contains(value, "webhook")) || strings.HasPrefix(value, "--webhook")
		}
		return false
	})
}

// countsWebhooks reports whether an object is a patch, or has one, that means webhooks by their numbers.
func countsWebhooks(object any) bool {
	return walk(object, func(key string, value any) bool {
		path, is := value.(string)
		number, counts := strings.CutPrefix(path, "/webhooks/")
		return is && key == "path" && counts && number != "" && number[0] >= '0' && number[0] <= '9'
	})
}
