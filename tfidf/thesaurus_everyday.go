package tfidf

import "sync"

// everyday holds words that people use for one another when they talk of their
// days, a group a line. It was written for this project.
const everyday = `
accident crash collision
achieve accomplish reach attain
achievement accomplishment success milestone
address residence home
adopt adoption
advice suggestion recommendation tip counsel
advise suggest recommend
afraid scared fear fearful
aid help assist support
airplane plane flight fly
allergy allergic
amazing awesome incredible great fantastic
angry mad upset furious
animal pet
anniversary celebrate
anxious nervous worried worry anxiety stress
apartment flat home house
apologize sorry apology
appreciate thankful grateful gratitude thank
arrive come reach
art painting drawing artwork sculpture
artist painter
assist help support
attend join participate visit went
author writer novelist
autumn fall
award prize medal trophy
baby infant newborn
bake cook
band group musician
beach ocean sea coast shore
beautiful pretty gorgeous lovely stunning
bicycle bike cycling biking
birthday born
book novel read
boss manager supervisor
boyfriend partner girlfriend
brave courage courageous
breakfast lunch dinner meal
brother sister sibling
business company shop store startup
buy purchase acquire bought
camera photo photography
camp camping tent
car vehicle drive automobile
career job profession occupation work
celebrate party celebration
challenge difficulty struggle problem obstacle
charity donate donation fundraiser
cheap inexpensive affordable
child kid son daughter
childhood young kid
city town
class course lesson workshop
clothes clothing outfit dress
colleague coworker
collect collection
college university school degree
comfort console
compete competition contest tournament
concert gig show festival performance
cook recipe meal cooking
country nation homeland
couple partner spouse
create make craft
cry tear
cure heal remedy treatment
customer client
dad father
dance dancing dancer
dangerous risky unsafe
daughter girl kid child
dead die death passed deceased
decide decision choose
degree graduate diploma
dessert cake sweet
diagnose illness disease sick
diet food eat nutrition
discuss talk conversation chat
disease illness sickness
divorce separate breakup split
doctor physician
dog puppy pup
dream aspiration goal
drink beverage
eager excited enthusiastic
earn salary income wage
education school study learn
effect impact influence
emotion feeling feel
employee staff worker
employer company
engaged engagement married wedding
enjoy like love
entertain fun
evening night
event gathering meetup
exam test
exercise workout gym fitness training
expensive costly pricey
experience encounter
famous celebrity popular
family relative parent
fan supporter
farm farmer
fashion style clothing
father dad parent
favorite favourite prefer best love
feeling emotion mood
festival fair celebration
film movie cinema
finance financial money budget
finish complete
fish fishing
fit fitness healthy shape
flower plant garden
food meal dish cuisine
forest woods tree
friend buddy pal
friendship friend
frighten scare
frustrate frustrated annoy annoying
fun enjoyable entertaining
funny humorous hilarious
furniture sofa couch chair table
game gaming play
garden gardening plant
gift present
girlfriend partner
give donate
glad happy pleased
goal aim objective target ambition
grandma grandmother granny
grandpa grandfather
guest visitor
guide mentor
gym workout exercise
happy joy happiness glad joyful
hate dislike
health healthy wellness
hike hiking trail trek
hobby pastime interest activity
holiday vacation trip
home house
hope wish
hospital clinic er emergency
hurt injury injure injured pain
husband spouse wife
idea thought
ill sick unwell
important significant
improve better enhance
injury hurt wound sprain
inspire inspiration motivate motivation
instrument guitar piano violin
invite invitation
job work career employment
journey trip travel
kind type
kitten cat
language speak
large big huge
laugh laughter humor
law legal
leader leadership
learn study learnt
lecture talk speech presentation
letter mail
live reside living
lonely alone
lose lost
love adore
marriage married wedding marry
medicine medication drug pill
meditate meditation mindfulness
meet encounter met
member belong
memory remember memorable reminder
mentor teacher coach
mom mother mum
money cash fund finances
month monthly
mother mom parent
motivate motivation encourage
mountain hill peak
move relocate
movie film
museum exhibit exhibition gallery
music song musical
musician singer artist
nature outdoors outdoor
neighbor neighbour neighborhood
nervous anxious
nickname called name
nurse doctor
obtain get receive
occupation job profession
offer propose
opinion view thought think
opportunity chance
organize arrange plan
outdoor outside nature
overcome cope deal
own have possess
paint painting
parent mother father mom dad
park trail
participate join attend
partner spouse husband wife
party celebration gathering
passion passionate love
pastime hobby
pay payment paid
performance perform show
pet dog cat
photo picture photograph
picture photo image
plan intend
planning plan
plant flower
poem poetry
poor poverty
practice train rehearse
pray prayer church faith
pregnant expecting baby
prepare preparation ready
pride proud
problem issue trouble difficulty
profession career
promote promotion promoted
proud pride
purchase buy bought
quit resign leave
race marathon run
rain weather storm
recipe cook dish
recommend suggest
recover recovery heal
relationship dating partner
relax calm unwind rest
religion religious faith church
remind reminder
renovate renovation remodel
rescue save
research study investigate
restaurant cafe diner eat
retire retirement
ride bike
roommate flatmate
run running jog jogging
sad unhappy upset
safe safety
sail boat
scared afraid
scenery landscape view
school class
sell sale sold
serious severe
sew sewing knit
share tell
shop store
show exhibit
sibling brother sister
sick ill
sing singer song
sleep rest insomnia
small little tiny
snack food
soccer football
song music
spend spent
spicy hot
sport basketball soccer football tennis
spouse husband wife
start begin
state mention say
stay remain
stress stressful pressure
strong strength
student pupil
study research
succeed success
suggest recommend advise
summer season
sunset sunrise
support help
surgery operation
surprise unexpected
sweet candy dessert
swim swimming pool
symbol symbolize represent
talent skill ability
talk speak discuss chat
teach teacher educate
team squad
thankful grateful
therapy therapist counseling counselor
tired exhausted fatigue
tour trip
tournament competition
town city village
toy game
tradition custom
train training practice
travel trip vacation journey visit
trip travel vacation
truth honest
try attempt
unwind relax
upset sad
vacation trip holiday
vegetable veggie
vehicle car truck
veteran military
visit travel trip
vote election
walk stroll
watch see view
water drink
weather rain sunny
wedding married marry
weekend saturday sunday
weight diet pounds
wife spouse
win won victory award
winter snow
wish hope
woman lady
work job
worry worried concern
write writing author
wrong incorrect
young youth
`

// relatedEveryday is related for the words of everyday.
var relatedEveryday = sync.OnceValue(func() map[string][]relative { return relatives(everyday) })
