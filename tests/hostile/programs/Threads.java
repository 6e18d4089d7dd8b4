// Starts threads without end.
class Threads {
    public static void main(String[] given) throws Exception {
        while (true) {
            try {
                Thread made = new Thread(() -> { try { Thread.sleep(60000); } catch (Exception e) { } });
                made.start();
            } catch (Throwable error) {
                Thread.sleep(20);
            }
        }
    }
}
