package act

// Quiet are options that change how a command speaks, not what it does,
// or only skip a question. A rule that names one does not depend on it.
var Quiet = map[string]bool{
	"verbose": true, "quiet": true, "v": true, "q": true, "yes": true, "y": true, "assume-yes": true, "assumeyes": true, "message": true, "silent": true,
	"color": true, "no-color": true, "progress": true, "output": true, "interactive": true, "tty": true, "show-error": true,
	"debug": true, "noconfirm": true, "timeout": true, "no-pager": true, "profile": true, "region": true, "C": true, "c": true, "chdir": true, "kubeconfig": true,
	"no-auth-warning": true, "wait": true, "json": true, "author": true, "date": true, "location": true, "fail": true, "access": true,
}

// dryRun are the options by which a program says what it would do and does nothing.
// Programs that are not listed may use these words for something else.
var dryRun = map[string][]string{
	"rsync": {"dry-run"}, "git": {"dry-run"}, "kubectl": {"dry-run"}, "helm": {"dry-run"}, "aws": {"dryrun", "dry-run"}, "npm": {"dry-run"}, "cargo": {"dry-run"},
	"apt": {"simulate"}, "make": {"dry-run"}, "wipefs": {"no-act"}, "ansible-playbook": {"check", "syntax-check", "list-tasks", "list-hosts"}, "ufw": {"dry-run"}, "docker": {"dry-run"}, "systemctl": {"dry-run"},
	"gem": {"dry-run"}, "twine": {"dry-run"}, "yarn": {"dry-run"}, "pnpm": {"dry-run"}, "poetry": {"dry-run"}, "terraform": {"help", "dry-run"}, "patch": {"dry-run"}, "rclone": {"dry-run"}, "s3cmd": {"dry-run"},
	"serverless": {"noDeploy"}, "certbot": {"dry-run"}, "pip": {"dry-run"}, "logrotate": {"debug"}, "parallel": {"dry-run"}, "mc": {"fake"},
}

// mention are programs that only show, search or store the words they are given.
var mention = map[string]bool{
	"echo": true, "printf": true, "grep": true, "egrep": true, "fgrep": true, "rg": true, "ag": true, "ack": true, "cat": true, "man": true, "tldr": true, "info": true, "apropos": true, "whatis": true,
	"which": true, "type": true, "whereis": true, "help": true, "test": true, "[": true, "[[": true, ":": true, "true": true, "false": true, "ls": true, "stat": true, "file": true, "wc": true, "du": true, "df": true, "diff": true, "cmp": true,
	"jq": true, "yq": true, "sort": true, "uniq": true, "cut": true, "tr": true, "column": true, "logger": true, "notify-send": true, "say": true, "cowsay": true, "figlet": true, "history": true, "tree": true,
	"md5sum": true, "sha256sum": true, "sha1sum": true, "basename": true, "dirname": true, "realpath": true, "readlink": true, "pwd": true, "date": true, "sleep": true, "wait": true, "exit": true, "return": true, "shift": true, "unset": true, "cd": true, "pushd": true, "popd": true,
	"set": true, "seq": true, "yes": true, "expr": true, "bc": true, "id": true, "whoami": true, "hostname": true, "uname": true, "uptime": true, "ps": true, "top": true, "free": true, "lsof": true, "mkdir": true, "touch": true, "explain": true, "shellcheck": true, "shfmt": true, "local": true, "read": true, "alias": true,
	"awk": true, "gawk": true, "sed": true, "base64": true, "xxd": true, "comm": true, "paste": true, "fold": true, "fmt": true, "strings": true, "hexdump": true, "od": true, "zcat": true, "zgrep": true, "mail": true, "mailx": true, "wall": true, "write": true, "xclip": true, "pbcopy": true,
}

// subMention are subcommands that only show or record.
var subMention = map[string]bool{
	"git status": true, "git log": true, "git diff": true, "git show": true, "git grep": true, "git blame": true, "git fetch": true, "git add": true, "git ls-files": true, "git remote": true, "git rev-parse": true, "git describe": true,
	"docker ps": true, "docker logs": true, "docker inspect": true, "docker images": true, "docker stats": true, "docker compose ps": true, "docker compose logs": true, "docker info": true, "docker version": true, "docker top": true,
	"kubectl get": true, "kubectl describe": true, "kubectl logs": true, "kubectl top": true, "kubectl explain": true, "kubectl diff": true, "kubectl version": true, "kubectl config": true,
	"systemctl status": true, "systemctl is-active": true, "systemctl list-units": true, "systemctl show": true, "systemctl cat": true, "terraform plan": true, "terraform show": true, "terraform validate": true, "terraform fmt": true, "terraform output": true, "terraform init": true,
	"helm list": true, "helm status": true, "helm get": true, "helm history": true, "helm template": true, "helm lint": true, "aws s3 ls": true, "npm ls": true, "npm view": true, "npm test": true, "npm outdated": true, "pip list": true, "pip show": true, "pip freeze": true,
	"gh issue": true, "gh pr": true, "go test": true, "go build": true, "go vet": true, "cargo test": true, "cargo build": true, "cargo check": true, "apt list": true, "apt show": true, "apt search": true, "apt update": true,
}

// Saying are the options whose values are read by people.
var Saying = []string{"message", "m", "body", "b", "title", "t", "description", "trailer", "author", "data", "data-raw", "json", "comment", "notes", "reason", "grep"}

// kinds are the short names of Kubernetes resources, and their plurals.
var kinds = map[string]string{
	"ns": "namespace", "namespaces": "namespace", "po": "pod", "pods": "pod", "deploy": "deployment", "deployments": "deployment", "svc": "service", "services": "service",
	"cm": "configmap", "configmaps": "configmap", "secrets": "secret", "pvc": "persistentvolumeclaim", "persistentvolumeclaims": "persistentvolumeclaim", "pv": "persistentvolume", "persistentvolumes": "persistentvolume",
	"no": "node", "nodes": "node", "sts": "statefulset", "statefulsets": "statefulset", "ds": "daemonset", "daemonsets": "daemonset", "rs": "replicaset", "replicasets": "replicaset", "ing": "ingress", "ingresses": "ingress",
	"jobs": "job", "cj": "cronjob", "cronjobs": "cronjob", "sa": "serviceaccount", "serviceaccounts": "serviceaccount", "crd": "customresourcedefinition", "crds": "customresourcedefinition", "customresourcedefinitions": "customresourcedefinition", "hpa": "horizontalpodautoscaler",
}

// verbs are other names of subcommands.
var verbs = map[string]string{
	"helm delete": "uninstall", "helm del": "uninstall", "helm un": "uninstall",
	"npm i": "install", "npm add": "install", "npm in": "install", "npm un": "uninstall", "npm remove": "uninstall", "npm rm": "uninstall", "npm r": "uninstall", "npm unlink": "uninstall", "npm ci": "ci",
	"apt purge": "remove", "apt-get purge": "remove", "apt erase": "remove", "yum erase": "remove", "yum autoremove": "remove",
	"docker remove": "rm", "git stage": "add", "pip remove": "uninstall", "gh repo rm": "delete", "cargo rm": "remove", "ufw reset": "reset",
}
