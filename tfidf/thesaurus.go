package tfidf

import (
	"slices"
	"strings"
	"sync"
)

// thesaurus holds words that developers use for one another, a group a line.
// It was written for this project. A word may stand in several groups.
const thesaurus = `
abort cancel interrupt terminate
absent lack missing
access permission privilege rights
accumulate aggregate
actual current present
add append insert push
add plus sum total
admin administrator
align indent justify
allocate reserve
allow enable permit
alter change edit modify update
ambiguous unclear
app application program
argument arg parameter param option
array list vector sequence
assert ensure verify
assign set
async asynchronous
attach mount
attribute attr property field member
auth authenticate authentication login signin
authorization authz permission
average avg mean
background daemon service
backup copy snapshot dump
batch bulk
begin start
binary executable
bind attach
blank empty whitespace space
bool boolean
borrow reference
branch fork
broken corrupt damaged
browse explore
buffer cache
bug defect issue
build compile make
byte octet
calculate compute determine evaluate
call invoke execute
capital uppercase upper
cast convert coerce
catch handle trap
char character letter
check test verify validate
child subprocess
choose pick select
clean clear purge wipe
clone copy duplicate
close shut
column col
combine concatenate concat join merge
command cmd
compare diff difference
compress zip gzip archive pack
condition predicate
config configuration configure settings preferences
connect connection conn attach
console terminal tty shell
constant const
construct create build
constructor init initializer
contain include hold
content contents body
convert transform translate parse
coordinate position location
count number
cpu processor
crash panic abort
create generate make new
credential password secret
cut truncate trim
database db
date day
datetime timestamp time
deadlock hang stuck freeze
debug trace diagnose
decode decrypt unpack deserialize parse
decompress extract unzip unpack uncompress
decrease decrement reduce
default fallback
delay sleep wait pause
delete remove erase drop rm
dependency package library module
deploy release ship publish
deprecated obsolete
depth level
descending reverse
describe explain
dest destination target
detect discover find
dict dictionary map mapping hash hashmap
digit number numeric
dimension shape size
dir directory folder
disable deactivate
disk drive storage
display show print output view
distinct unique different
divide split
doc document documentation
domain hostname host
download fetch retrieve get
duplicate repeated repeat
element item entry member
email mail
empty blank none null
encode serialize encrypt
encrypt cipher
end finish stop
endpoint route url
enum enumeration
env environment
equal identical same match
erase wipe clear
err error failure exception fault
escape quote
evaluate eval
event signal
every each
example sample
exceed over above
exec execute run launch
exist present available
exit quit leave terminate
expand extend
expected required
export dump
expression expr
extension suffix
extract parse
fail failed failure
false true boolean
fast quick
fast slow performance
field column attribute
figure plot chart graph diagram
file document
filter exclude select
find search locate lookup seek
first initial head
fix repair resolve solve
flag option switch
flatten nested
float double decimal real
follow track tail watch
font typeface
force require
format formatting layout
forward redirect
func function fn method procedure routine
generic template
global shared
group cluster team
grow increase expand
guess infer predict
hash checksum digest
head header top
height width size
hidden invisible
histogram distribution
host server machine computer
http web
id identifier identity key
identical same equal
ignore skip suppress
image picture photo img
immutable readonly constant
impl implement implementation
import load include require
increase increment raise
index position offset
info information
inherit derive subclass extend
input stdin
inside within
install setup
int integer number
interface trait protocol
internet network web
interval range period
invalid bad wrong illegal malformed
ip address
iterate loop traverse
iterator generator
job task process
json serialize
junk garbage
kernel os
key identifier name
kill terminate end stop
label tag title
lambda closure anonymous
last final latest recent
latency delay
launch start open run
len length size
lib library module package
limit maximum bound restrict
line row
link symlink shortcut
list enumerate show
load read open
lock mutex
log logger logging
lowercase lower
mac osx macos
main primary
mark label
match equal find
max maximum largest biggest highest
memory ram heap
menu dropdown
message msg text
method function
min minimum smallest lowest
mismatch differ incompatible
missing absent undefined
modify change
module package
monitor watch observe
move rename mv relocate
mutable modify change
multiple several many
multiply product times
name title
namespace scope
nan null missing
negative minus
nested recursive inner
network net
newline linebreak
node vertex
none null nil nothing
normalize standardize scale
notify alert signal
now current
null nil none
numeric number
object instance
occurrence count
old previous former
open launch
operand operator
order sort
os operating system
output stdout result print
override overwrite replace
owner ownership
package module
page website
pad fill
parallel concurrent simultaneous
parent ancestor
parse read decode
part portion piece chunk
password passwd passphrase
path filepath filename location
pattern regex regexp
permission access
persist save store
picture image
pid process
pipe stream
plot draw
plugin extension addon
plus add
pointer ref reference
pop remove
port socket
postgres postgresql psql
prefix start begin
previous prior last
print echo display
private hidden
probability likelihood
process program
prompt ask input
query request select
queue fifo
quit exit
random rand arbitrary
range interval
rate frequency
read load
rebuild recreate
receive accept get
recursive recursively nested
reduce shrink
ref reference
refuse reject deny
regex regexp pattern
register subscribe
reload refresh restart
remote server
remove delete
rename move
repeat again loop
replace substitute swap
report summary
repo repository
request req
reset clear restore
resize scale
resolve lookup
response reply answer
restart reboot relaunch
result outcome output
return yield
reverse invert backward
rotate turn
round floor ceil
row line record
save write store persist
scan search
schedule cron timer
schema structure
scope lifetime
screen display monitor
script program
search grep find
send transmit post
separate split
separator delimiter
session connection
share common
shell bash terminal
show display
shuffle random
shutdown stop halt
signature declaration
size length
slice substring sublist
slow latency
socket connection
sort order rank
source src origin
space whitespace
specific particular
split divide tokenize separate
sql query
square power
stack trace
standard std
start begin launch
state status
statement stmt
static constant
std standard deviation
stop halt kill
store save
str string text
strip trim remove
struct structure record
subclass derived
subset part
substring contain
subtract minus difference
sum total add
support handle
swap exchange
switch toggle
symbol identifier
sync synchronize
syntax grammar
table tabular
temp temporary tmp
terminate kill
test check
text string
thread concurrent
throw raise
time duration
timeout deadline expire
token word
total sum
trailing end
train fit
tree hierarchy
trim strip
tuple pair
type kind
unable cannot fail
undefined unresolved unknown missing
union combine
unique distinct
unix linux
update upgrade refresh
upload send put
uppercase upper
url uri link address
usage use consumption
user account
utc timezone
valid validate
value val
var variable
variant enum
verbose detailed
version release
view display
virtual vm
wait sleep
warn warning
watch monitor
website site
whole entire
width size
wildcard glob
window frame
wipe erase
word token
worker thread
wrap surround
write save
xml html markup
zero null
`

// relative is a word of the thesaurus.
type relative struct{ text, stem string }

// related maps the stem of each word of the thesaurus to the words it stands with.
var related = sync.OnceValue(func() map[string][]relative { return relatives(thesaurus) })

// relatives reads groups of words, a group a line.
func relatives(groups string) map[string][]relative {
	m := map[string][]relative{}
	for line := range strings.Lines(groups) {
		var group []relative
		for _, w := range strings.Fields(line) {
			group = append(group, relative{w, stem(w)})
		}
		for _, a := range group {
			for _, b := range group {
				if a.stem != b.stem && !slices.ContainsFunc(m[a.stem], func(r relative) bool { return r.stem == b.stem }) {
					m[a.stem] = append(m[a.stem], b)
				}
			}
		}
	}
	return m
}
