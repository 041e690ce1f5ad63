package tfidf

import (
	"slices"
	"strings"
	"sync"
)

// tools says by which words people ask for what a command does, a command a
// line: alternatives are parted by commas, and of one of them all words must be
// in the query. It was written for this project.
const tools = `
apt: install package debian, install package ubuntu, upgrade package ubuntu
at: run once later, schedule command once, execute tomorrow
awk: column, field, sum column, average column, print column, th field, th column, separated field, comma separated, line length, between line, delimiter
basename: file name without path, strip directory name, filename without, name without extension
base64: encode binary text, decode base
bc: arithmetic, floating point calculation, calculate expression, precision
brew: install mac, homebrew
bzip2: compress bz2, bz2
cal: calendar
cat: concatenate, print content, display content, show content, merge file, contents file, combine file, file contents
cd: change directory, go directory, current directory change, go home directory, go parent directory, go back directory, change folder
chattr: immutable file
chgrp: change group owner, group ownership, change group
chmod: permission, executable, make executable, read only, writable, file mode, setuid, sticky bit, write permission, read permission
chown: owner, ownership, change owner, belongs user
cmp: compare byte
column: align column, table column
comm: common line, line both file, line only first
convert: convert image, resize image
cp: copy, copy file, copy directory, duplicate file
cpio: copy archive
crontab: cron, schedule, every minute, every hour, every day, periodically
csplit: split pattern
curl: download, http request, fetch url, post request, url, web page, upload http, header response
cut: column, field, first field, delimiter, extract column, characters line, th field, first characters, separated field
date: current time, current date, timestamp, yesterday, today date, format date, epoch, seconds since, day week
dd: disk image, raw disk, write iso, zeros file, random bytes
df: disk space, free space, space disk, filesystem usage, mounted filesystem, disk free
diff: difference, compare, compare file, changed line, differences
dig: dns, dns lookup, domain record, nameserver, resolve domain, ip domain
dirname: directory path, parent directory path, directory part, directory of file, directory script
dmesg: kernel message, kernel log
docker: container, image container
du: disk usage, size directory, space used, directory size, largest directory, folder size, size folder, total size, biggest file, largest file
echo: print string, print text, display text, print message, value variable, print variable
env: environment variable, environment
expand: tab space
export: environment variable
fdisk: partition disk, partition table
ffmpeg: video, audio, convert video, extract audio
file: type of file, file type, mime type
find: find file, recursively, subdirectory, modified, newer, older, size than, empty directory, symbolic link, regular file, hidden file, search file, file extension, all file, current directory, under directory, files under, days ago, directory tree, file larger
fg: foreground, resume job
fold: wrap line, line width
free: memory usage, free memory, available memory, ram usage, swap usage
git: commit, branch, repository, merge branch, remote branch, stash, rebase
gpg: encrypt, decrypt, signature, sign file
grep: line contain, contain, match line, search text, pattern, regex, occurrence, search string, lines matching, lines with, contains string, containing, file containing, regular expression, search word, matching pattern, lines that, filter line
groups: group user, member group
gzip: compress, gz, decompress, compressed file
head: first line, first n line, beginning file, top line, first lines, start of file, first bytes
hexdump: hexadecimal, hex dump, binary content
history: previous command, command history, last command, executed command
host: ip address host, dns, domain name
hostname: name computer, host name, machine name, name system
htop: process cpu, monitor process
id: user id, group id, uid, gid
ifconfig: network interface, ip address, mac address
ip: network interface, ip address, route table, routing
jobs: background job, list job
join: join file, common field, join line
jq: json, parse json
kill: kill process, terminate process, signal, send signal, stop process, end process, pid
killall: kill process name, kill all process
kubectl: kubernetes, pod
last: last login, logged users
less: page file, view file, scroll
ln: link, symbolic link, symlink, hard link, soft link, create link
ls: list, list file, list directory, file directory, show file, files in directory, hidden file, sort size, long format, list folder, listing, inode, display file
lsof: open file, port use, process port, listening port, file opened, process using
lspci: pci device
lsusb: usb device
make: build target, makefile
man: manual, manual page
md5sum: md5, checksum, hash file
mkdir: create directory, make directory, new directory, create folder, new folder, directory exist
mkfifo: named pipe, fifo
mktemp: temporary file, temporary directory, temp file, temp directory
mount: mount, mount disk, mounted, mount drive, mount filesystem
mv: move, rename, move file, rename file, change extension, change name
nc: port listen, tcp connection, open port, send tcp
netstat: connection, listening port, open port, network connection, port use
nice: priority process, run priority
nl: number line, line number, numbered
nohup: after logout, hangup, keep running, background terminal
nslookup: dns, dns lookup, ip domain
od: octal, hexadecimal, byte dump
openssl: certificate, ssl, tls certificate, private key
paste: merge line, join line, side by side, line into one, comma separated, columns together, single line
perl: regex replace, replace multiline
pgrep: process id name, pid process, find process
ping: reachable, host alive, icmp
pip: install python package
pkill: kill process name, kill all process
printf: format string, print format, padding number, leading zero
ps: process, running process, list process, process id, process user, memory process, cpu process
pstree: process tree
pwd: current directory, working directory, print directory, present directory
read: user input, prompt user, ask user, variable from input, read line, save variable
readlink: symlink target, absolute path, full path, canonical path, resolve symlink, symbolic link target
realpath: absolute path, full path, canonical path
rename: rename, rename multiple, replace filename, rename file
renice: priority process
rev: reverse line, reverse string, reverse character
rm: remove, delete, remove file, delete file, remove directory, delete directory, delete folder, erase file
rmdir: empty directory, remove empty directory, delete empty directory, delete directory, remove directory
rsync: synchronize, copy remote, sync directory, backup directory, mirror directory, sync, exclude copy, copy preserving, local remote, archive mode
scp: copy remote, copy file remote, copy server, transfer file, copy host
screen: session detach, terminal session, reattach, screen session
sed: replace, substitute, delete line, replace string, remove line, insert line, replace text, line range, edit file, remove character, lines between, trailing space, strip, blank line, replaces, replace occurrence, remove leading, empty line, th line, prefix line, append line
seq: sequence number, number from, range number, numbers from
set: shell option, exit on error, positional parameter
sha256sum: sha256, checksum
shred: overwrite file, securely delete
shuf: random line, shuffle, random number, randomize
shutdown: power off, turn off, reboot
sleep: wait second, delay, pause second
sort: sort, order, sorted, alphabetical, numerical order, sort number, ordered, reverse order, unique, largest, descending, most recent, duplicate, by size, alphabetically
split: split file, split, piece, parts file, chunks
ssh: remote host, remote server, connect server, log in remote, remote machine, run command remote, tunnel, port forwarding, login server
sshkeygen: ssh key, generate key, key pair
ss: socket, listening port, connection
stat: file status, file size, modification time, inode, access time, last modified, permissions octal
strace: system call, trace program
strings: printable string, text binary
su: switch user, become user, another user
sudo: root, superuser, as root, administrator, permission denied
systemctl: service, start service, restart service, enable service, unit
tac: reverse order line, reverse file, reverse lines, last line first
tail: last line, end file, follow log, last n line, bottom file, last lines, monitor log, except first, skip first line, growing file
tar: archive, tarball, extract archive, compress directory, unpack, tgz, create archive, compress folder, archive directory, tar archive
tcpdump: packet, capture packet, network traffic
tee: write file and stdout, output and file, save output display, append output, standard output and file, output both, file as root, stdout and
test: file exist, check exist, string empty, variable empty
time: how long command, measure time, execution time, running time
timeout: time limit, kill after, limit time, run for seconds
tmux: terminal session, detach session, session window, pane
top: cpu usage, process cpu, process memory, monitor process, system load, resource
touch: create empty file, update timestamp, new file, modification time, create file, empty file, access time
tr: uppercase, lowercase, translate character, delete character, replace character, squeeze, convert case, upper case, lower case, newline, replace space, replace newline, remove newline, remove space, capital
traceroute: route packet, path packet
tree: directory tree, tree structure, directory structure
ulimit: open file limit, resource limit
umount: unmount
uname: kernel version, operating system, system information, architecture, kernel name
uniq: unique line, duplicate line, count occurrence, unique, duplicate, distinct line, remove duplicate, repeated line, adjacent, number of occurrences, frequency
unzip: extract zip, zip archive extract
uptime: system uptime, how long running, load average
useradd: add user, create user, new user
watch: every second, repeat command, run repeatedly, periodically, each second, monitor
wc: count, count line, count word, number of line, number lines, count file, count characters, number files, how many, total number, word count
wget: download, download file, mirror site, download url, web page
which: path command, locate program, path executable, where command, full path command, executable path, location command
who: logged in, logged user, users logged
whoami: current user, user name, current username, effective user, name current user
xargs: for each file, each argument, pass argument, output as argument, run on each, each found, execute command each, all found, found file, remove all, search all, files found, in parallel, archive all, each file
yes: answer yes, repeatedly output, always confirm
zip: zip archive, compress zip, zip
`

// way is one way to ask for what a tool does.
type way struct {
	tool  relative
	stems []string // all of them
}

// ways maps a stem to the ways that begin with it.
var ways = sync.OnceValue(func() map[string][]way {
	m := map[string][]way{}
	for line := range strings.Lines(tools) {
		name, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		tool := relative{name, stem(name)}
		for text := range strings.SplitSeq(list, ",") {
			var stems []string
			for _, w := range strings.Fields(text) {
				if s := stem(w); !slices.Contains(stems, s) {
					stems = append(stems, s)
				}
			}
			m[stems[0]] = append(m[stems[0]], way{tool, stems})
		}
	}
	return m
})
