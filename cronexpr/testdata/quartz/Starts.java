import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.Random;

/** Draws zones, and moments in them where calendars are difficult. */
final class Starts {
    /**
     * Zones of all kinds: changes at night and at midnight (Sao_Paulo, Beirut), of half an hour
     * (Lord_Howe) and of two (Troll), of the standard time itself (Moscow), below UTC in summer by
     * law (Dublin), and none.
     */
    private static final String[] ZONES = {
        "America/New_York", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe",
        "UTC", "Asia/Kolkata", "Europe/Dublin", "Asia/Beirut", "Antarctica/Troll", "Europe/Moscow",
    };
    private static final long FIRST = Instant.parse("2000-01-01T00:00:00Z").getEpochSecond();
    private static final long LAST = Instant.parse("2037-01-01T00:00:00Z").getEpochSecond();
    /** Clock changes of zones whose laws still change are drawn from the past only. */
    private static final long SETTLED = Instant.parse("2020-01-01T00:00:00Z").getEpochSecond();

    private final Random random;

    Starts(Random random) {
        this.random = random;
    }

    String zone() {
        return ZONES[random.nextInt(ZONES.length)];
    }

    /** A Unix second: mostly close before a clock change, else around a year's end or a 29 February. */
    long near(String zone) {
        long day = 86_400;
        int kind = random.nextInt(10);
        long moment = between(FIRST, LAST);
        if (kind < 6) {
            ZoneOffsetTransition change =
                ZoneId.of(zone).getRules().nextTransition(Instant.ofEpochSecond(between(FIRST, SETTLED)));
            if (change != null) {
                return change.toEpochSecond() - (kind < 4 ? between(0, day / 4) : between(0, 3 * day));
            }
        }
        if (kind < 8) {
            int year = 2000 + random.nextInt(37);
            int month = random.nextBoolean() ? 1 : 3;
            moment = LocalDate.of(year, month, 1).toEpochDay() * day - between(-day, 3 * day);
        }
        return moment;
    }

    private long between(long from, long to) {
        return from + (long) (random.nextDouble() * (to - from));
    }
}
